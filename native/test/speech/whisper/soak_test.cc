// Windows of all kinds arrive, finish and are aborted at any moment, on several threads. A window that is not aborted
// must have the result that it has alone; an aborted one must leave nothing behind. Mainly for the sanitizers.
// VERBATIM_SOAK_WINDOWS sets the number of windows for a longer run.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "support/seed.h"
#include "testing/window_runner.h"

namespace verbatim {
namespace {

using test::WindowRunner;

constexpr int kClients = 3;

int windows_in_all() {
  const char* const wanted = std::getenv("VERBATIM_SOAK_WINDOWS");
  return wanted == nullptr ? 45 : std::stoi(wanted);
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }

 private:
  std::mt19937 engine_;
};

struct Case {
  std::shared_ptr<const Window> window;
  DecodeOptions options;
  WindowResult expected;
};

std::shared_ptr<const Window> random_window(Dice& dice) {
  const auto& clips = test::clips();
  const auto& samples =
      test::window_of(clips[static_cast<std::size_t>(dice.below(static_cast<int>(clips.size())))].file).samples;
  // From less than Whisper's minimum to most of a short encoder's length.
  const int length = dice.below(4) == 0 ? dice.below(3200) : dice.below(4 * kSampleRate);
  const int first = dice.below(static_cast<int>(samples.size()) / 2);
  auto window = std::make_shared<Window>();
  window->samples.assign(samples.begin() + first,
                         samples.begin() + std::min<std::ptrdiff_t>(first + length, std::ssize(samples)));
  return window;
}

DecodeOptions random_options(Dice& dice) {
  DecodeOptions options;
  options.own_length = true;
  options.language = dice.below(2) == 0 ? "auto" : "es";
  options.beam_size = dice.below(3) == 0 ? 3 : 1;
  options.best_of = 1 + dice.below(3);
  options.temperature = dice.below(3) == 0 ? 0.4f : 0.0f;
  options.temperature_increment = dice.below(2) == 0 ? 0.0f : 0.4f;
  // For some no decoding is likely enough, so that every temperature is tried.
  options.log_prob_threshold = dice.below(4) == 0 ? 0.0f : -1.0f;
  options.max_tokens = dice.below(3) == 0 ? 6 : 0;
  options.explain = dice.below(2) == 0;
  options.align = dice.below(3) == 0;
  return options;
}

std::vector<Case> random_cases(const Recogniser& recogniser, int count) {
  Dice dice(test::seed());
  WindowRunner alone(recogniser, {});
  std::vector<Case> cases;
  while (static_cast<int>(cases.size()) < count) {
    Case next{random_window(dice), random_options(dice), {}};
    next.expected = alone.transcribe(next.window, next.options);
    cases.push_back(std::move(next));
  }
  return cases;
}

bool is_same(const WindowResult& a, const WindowResult& b) {
  return test::tokens_of(a) == test::tokens_of(b) && test::text_of(a) == test::text_of(b) && a.language == b.language &&
         a.language_probabilities == b.language_probabilities &&
         a.average_log_probability == b.average_log_probability &&
         std::ranges::equal(a.segments, b.segments, {}, &Segment::words, &Segment::words);
}

struct Tally {
  std::atomic<int> same{0};
  std::atomic<int> aborted{0};
  // Number of windows that ended as aborted although nobody aborted them.
  std::atomic<int> wrongly_aborted{0};
  std::atomic<int> different{0};
  std::atomic<int> left_behind{0};
};

struct Started {
  const Case* source;
  std::shared_ptr<WindowInFlight> window;
  bool aborted = false;
};

void abort_now(Started& one) {
  one.aborted = true;
  one.window->abort();
}

// Starts a few windows and aborts some of them, immediately or a little later.
void run_client(WindowRunner& runner, const std::vector<Case>& cases, unsigned seed, int windows, Tally& tally) {
  Dice dice(seed);
  while (windows > 0) {
    std::vector<Started> mine;
    for (int i = std::min(windows, 1 + dice.below(5)); i > 0; --i, --windows) {
      const Case& next = cases[static_cast<std::size_t>(dice.below(static_cast<int>(cases.size())))];
      mine.push_back({&next, runner.start(next.window, next.options)});
      // Before any lane can have finished it: an abort that does nothing would be noticed.
      if (dice.below(6) == 0) abort_now(mine.back());
      std::this_thread::sleep_for(std::chrono::milliseconds(dice.below(8)));
    }
    for (Started& one : mine) {
      if (dice.below(3) == 0) abort_now(one);
      std::this_thread::sleep_for(std::chrono::milliseconds(dice.below(4)));
    }
    for (const auto& [source, window, aborted] : mine) {
      try {
        ++(is_same(runner.finish(*window), source->expected) ? tally.same : tally.different);
      } catch (const EngineError& error) {
        const bool is_abort = error.code() == ErrorCode::kAborted;
        ++(!is_abort ? tally.different : aborted ? tally.aborted : tally.wrongly_aborted);
      }
      if (window->memory_bytes() != 0) ++tally.left_behind;
    }
  }
}

}  // namespace

TEST_CASE("windows come and go and are aborted at any moment, and the others never notice") {
  for (const std::string compute : {"int8", "float32"}) {
    CAPTURE(compute);
    const auto recogniser = load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, compute);
    const std::vector<Case> cases = random_cases(*recogniser, 10);
    Tally tally;
    const int each = (windows_in_all() + kClients - 1) / kClients;
    {
      WindowRunner runner(*recogniser, {.lanes = 2, .threads = 2, .steps = 3, .full_batch = 3});
      std::vector<std::jthread> clients;
      for (unsigned i = 0; i < kClients; ++i) {
        clients.emplace_back([&, i] { run_client(runner, cases, test::seed() + 1 + i, each, tally); });
      }
    }
    CHECK(tally.different == 0);
    CHECK(tally.left_behind == 0);
    CHECK(tally.wrongly_aborted == 0);
    CHECK(tally.aborted > 0);
    CHECK(tally.aborted + tally.same == kClients * each);
  }
}

}  // namespace verbatim
