// Measures the memory of a window in flight in the batched decoder, and the time until an aborted one is gone. Windows
// of 30 seconds of noise, on a model that make_model wrote with TOKENS, so that decoding takes long.
//
//   in_flight_bench [--compute int8,bfloat16,float32] [--beams 1,5] [--windows 8] [--aborts 200] [--lanes 2]
//   MODEL
//
// Memory: the most that is held for a window while it is encoded and while it is decoded, and its share of the resident
// set. Aborts: of random windows of the batch at random moments; measured from the call until the window's rows are
// gone and nothing is held for it. The other windows continue, and decoding has priority over encoding.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/load_recogniser.h"
#include "speech/random_models/noise.h"
#include "testing/window_runner.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

constexpr double kMebibyte = 1024.0 * 1024.0;

double resident_mebibytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMebibyte;
}

std::shared_ptr<const Window> noise_window(unsigned seed) {
  auto window = std::make_shared<Window>();
  window->samples = random_models::noise(30 * kSampleRate, seed);
  return window;
}

DecodeOptions decode_options(int beams) {
  DecodeOptions options;
  options.language = "en";
  options.beam_size = beams;
  options.temperature_increment = 0.0f;
  return options;
}

using InFlight = std::vector<std::shared_ptr<WindowInFlight>>;

// Largest memory of a single window.
double most_held(const InFlight& windows) {
  std::size_t most = 0;
  for (const auto& window : windows) most = std::max(most, window->memory_bytes());
  return static_cast<double>(most) / kMebibyte;
}

void measure_memory(const Recogniser& recogniser, const std::string& compute, int beams, int count) {
  const auto encoder = recogniser.make_encoder(1);
  const auto batch = recogniser.make_batch();
  double encoding = 0;
  double decoding = 0;
  double resident = 0;
  double before = 0;
  InFlight windows;
  // The first window touches the memory that all share.
  for (int i = 0; i <= count; ++i) {
    if (i == 1) before = resident_mebibytes();
    windows.push_back(recogniser.open(noise_window(static_cast<unsigned>(i)), decode_options(beams)));
    while (windows.back()->stage() == WindowStage::kEncode) {
      encoder->advance(*windows.back());
      encoding = std::max(encoding, static_cast<double>(windows.back()->memory_bytes()) / kMebibyte);
    }
    batch->add(windows.back());
  }
  while (batch->size() > static_cast<std::size_t>(count)) {
    batch->advance(1, 1);
    decoding = std::max(decoding, most_held(windows));
    resident = std::max(resident, resident_mebibytes() - before);
  }
  std::printf("| %s | %d | %.1f | %.1f | %.1f |\n", compute.c_str(), beams, encoding, decoding, resident / count);
  std::fflush(stdout);
}

class Aborts {
 public:
  Aborts(const Recogniser& recogniser, int windows, int lanes)
      : runner_(recogniser, {.lanes = lanes, .threads = 1, .full_batch = 1}) {
    for (int i = 0; i < windows; ++i) start();
  }
  ~Aborts() {
    for (const auto& window : windows_) window->abort();
    for (const auto& window : windows_) finish(*window);
  }

  // Aborts a window that is being decoded, and starts another. Returns false if there was none.
  bool one() {
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 100));
    const std::size_t place = random_() % windows_.size();
    const auto window = windows_[place];
    if (window->stage() == WindowStage::kEncode) return false;
    const bool is_decoded = window->stage() == WindowStage::kDecode;
    const double milliseconds = cost_of([&] {
                                  window->abort();
                                  finish(*window);
                                }).wall_ms;
    if (is_decoded) milliseconds_.push_back(milliseconds);
    windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(place));
    start();
    return is_decoded;
  }

  const std::vector<double>& milliseconds() const noexcept { return milliseconds_; }

 private:
  void start() { windows_.push_back(runner_.start(noise_window(next_++), decode_options(1))); }
  void finish(WindowInFlight& window) {
    try {
      runner_.finish(window);
    } catch (const EngineError& error) {
      if (error.code() != ErrorCode::kAborted) throw;
    }
  }
  test::WindowRunner runner_;
  std::mt19937 random_{1};
  unsigned next_ = 1;
  InFlight windows_;
  std::vector<double> milliseconds_;
};

void run(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--compute", "int8,bfloat16,float32"},
                                      {"--beams", "1,5"},
                                      {"--windows", "8"},
                                      {"--aborts", "200"},
                                      {"--lanes", "2"}},
                         .most_operands = 1},
                        words);
  if (options.operands().empty()) throw std::invalid_argument("MODEL is missing");
  const int windows = integer(options["--windows"], 1);
  const int lanes = integer(options["--lanes"], 1);
  std::vector<std::pair<std::string, std::shared_ptr<const Recogniser>>> recognisers;
  for (const std::string& compute : words_of_list(options["--compute"])) {
    recognisers.emplace_back(compute, load_recogniser(options.operands()[0], "cpu", AcceleratorMode::kAuto, compute));
  }
  std::printf(
      "| type | beams | held while encoded, MiB | while decoded, MiB | resident, MiB a window |\n"
      "|---|--:|--:|--:|--:|\n");
  for (const auto& [compute, recogniser] : recognisers) {
    for (const int beams : positive_integers(options["--beams"])) {
      measure_memory(*recogniser, compute, beams, windows);
    }
  }
  std::printf("\n| type | aborts | median ms | p99 ms | most ms |\n|---|--:|--:|--:|--:|\n");
  for (const auto& [compute, recogniser] : recognisers) {
    Aborts aborts(*recogniser, windows, lanes);
    for (int left = integer(options["--aborts"], 1); left > 0;) left -= aborts.one() ? 1 : 0;
    const std::vector<double>& taken = aborts.milliseconds();
    std::printf("| %s | %zu | %.1f | %.1f | %.1f |\n", compute.c_str(), taken.size(), median(taken),
                percentile(taken, 0.99), most(taken));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
