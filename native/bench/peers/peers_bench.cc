// Transcribes whole windows of 30 s with this engine, CTranslate2's Whisper (what faster-whisper runs on) and
// whisper.cpp. All have the same random weights, which write the same number of text tokens in every window, and start
// from the same samples. The programs take turns. Reports medians, processor time, and ratios of neighbouring runs.
// Fails if a program's text is not the scripted one. Prints Markdown, writes JSON.
//
//   peers_bench [--shapes base,small] [--tokens 96] [--windows 1,8] [--rounds 5] [--compute int8]
//               [--weights f16] [--ct2-types int8] [--whisper-weights q8_0] [--json FILE]
//
// - --windows: how many windows are transcribed at once.
// - --weights: type of the weights in our file; --whisper-weights: of those in whisper.cpp's, "none" to leave it out.
//   CTranslate2's are in float16, which it converts to each of --ct2-types as it loads them.
// - Each program has two threads: two workers with one thread each, or one worker with two. The former is left out for
//   one window, except for this engine, whose idle lane would serve other requests.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ct2_whisper.h"
#include "engine/report.h"
#include "measure.h"
#include "options.h"
#include "peer.h"
#include "program.h"
#include "speech/random_models/noise.h"
#include "speech/random_models/random_whisper_model.h"
#include "speech/random_models/scripted_decoder.h"
#include "speech/whisper/model/special_tokens.h"
#include "testing/temporary_directory.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

constexpr std::uint32_t kSeed = 1;
constexpr std::size_t kWindowSamples = 30 * std::size_t{kSampleRate};
constexpr Layout kTwoWorkers{.workers = 2, .threads = 1};
constexpr Layout kTwoThreads{.workers = 1, .threads = 2};

Options parse(const std::vector<std::string>& words) {
  return Options({.defaults = {{"--shapes", "base,small"},
                               {"--tokens", "96"},
                               {"--windows", "1,8"},
                               {"--rounds", "5"},
                               {"--compute", "int8"},
                               {"--weights", "f16"},
                               {"--ct2-types", "int8"},
                               {"--whisper-weights", "q8_0"},
                               {"--json", ""}}},
                 words);
}

Windows noise_windows(int count) {
  Windows windows;
  for (int i = 0; i < count; ++i) {
    Window window;
    window.samples = random_models::noise(kWindowSamples, static_cast<std::uint32_t>(i + 1));
    for (float& sample : window.samples) sample *= 0.3f;
    windows.push_back(std::make_shared<const Window>(std::move(window)));
  }
  return windows;
}

struct Row {
  std::unique_ptr<Peer> peer;
  Layout layout;
  bool is_own = false;
  std::vector<double> wall{}, cpu{};
};

// The programs with a model of one shape.
std::vector<Row> load(const Options& options, const std::string& shape, const std::filesystem::path& directory) {
  const int tokens = integer(options["--tokens"], 1);
  const auto write = [&](const std::string& weights) {
    const std::filesystem::path path = directory / (shape + "-" + weights + ".bin");
    random_models::write_random_model(random_models::published_shape(shape, weights), kSeed, path, tokens);
    return path;
  };
  const std::filesystem::path own = write(options["--weights"]);
  std::vector<Row> rows;
  for (const std::string& compute : words_of_list(options["--compute"])) {
    for (const Layout& layout : {kTwoWorkers, kTwoThreads})
      rows.push_back({own_peer(own, compute, layout), layout, true});
  }
  write_ct2_whisper(random_models::published_shape(shape), kSeed, directory / shape, tokens);
  for (const std::string& type : words_of_list(options["--ct2-types"])) {
    for (const Layout& layout : {kTwoWorkers, kTwoThreads})
      rows.push_back({ct2_peer(directory / shape, type, own, layout), layout});
  }
  if (options["--whisper-weights"] == "none") return rows;
  const std::filesystem::path quantized = write(options["--whisper-weights"]);
  for (const Layout& layout : {kTwoWorkers, kTwoThreads}) rows.push_back({whisper_cpp_peer(quantized, layout), layout});
  return rows;
}

// Those whose workers all have a window; ours with idle lanes too, as the service has them.
std::vector<Row*> rows_for(std::vector<Row>& rows, int windows) {
  std::vector<Row*> suited;
  for (Row& row : rows) {
    if (row.is_own || row.layout.workers <= windows) suited.push_back(&row);
  }
  return suited;
}

void check(const Row& row, const Texts& texts, std::size_t windows, const std::vector<transformer::TokenId>& expected) {
  if (texts.size() == windows && std::ranges::all_of(texts, [&](const auto& text) { return text == expected; })) return;
  throw std::runtime_error(row.peer->name() + " did not write the scripted text");
}

void measure(const std::vector<Row*>& rows, const Windows& windows, int rounds,
             const std::vector<transformer::TokenId>& expected) {
  for (Row* const row : rows) {
    row->wall.clear();
    row->cpu.clear();
    check(*row, row->peer->transcribe(windows), windows.size(), expected);
  }
  for (int round = 0; round < rounds; ++round) {
    for (Row* const row : rows) {
      Texts texts;
      const Cost cost = cost_of([&] { texts = row->peer->transcribe(windows); });
      check(*row, texts, windows.size(), expected);
      row->wall.push_back(cost.wall_ms);
      row->cpu.push_back(cost.cpu_ms);
    }
  }
}

std::string layout_of(const Row& row) {
  return std::to_string(row.layout.workers) + " x " + std::to_string(row.layout.threads);
}

// How many times as long the other took, in each round.
std::vector<double> ratios(const std::vector<double>& other, const std::vector<double>& own) {
  std::vector<double> all;
  for (std::size_t i = 0; i < own.size(); ++i) all.push_back(other[i] / own[i]);
  return all;
}

std::string spread(const std::vector<double>& values) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f (%.2f-%.2f)", median(values), least(values), most(values));
  return text;
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

nlohmann::json print_times(const std::string& shape, std::size_t windows, const std::vector<Row*>& rows) {
  nlohmann::json cells = nlohmann::json::array();
  const auto count = static_cast<double>(windows);
  for (const Row* const row : rows) {
    const std::string name = row->peer->name(), layout = layout_of(*row);
    std::printf("| %s | %zu | %s | %s | %.3f | %.0f | %.0f | %.0f |\n", shape.c_str(), windows, name.c_str(),
                layout.c_str(), 1000 * count / median(row->wall), median(row->wall) / count, least(row->wall) / count,
                median(row->cpu) / count);
    cells.push_back({{"shape", shape},
                     {"windows", windows},
                     {"program", name},
                     {"workers", row->layout.workers},
                     {"threads", row->layout.threads},
                     {"wallMs", row->wall},
                     {"cpuMs", row->cpu}});
  }
  return cells;
}

void print_ratios(const std::vector<Row*>& rows) {
  std::printf("\n| ours | other | by the clock | processor time |\n|---|---|--:|--:|\n");
  for (const Row* const own : rows) {
    for (const Row* const other : rows) {
      if (!own->is_own || other->is_own) continue;
      std::printf("| %s, %s | %s, %s | %s | %s |\n", own->peer->name().c_str(), layout_of(*own).c_str(),
                  other->peer->name().c_str(), layout_of(*other).c_str(),
                  spread(ratios(other->wall, own->wall)).c_str(), spread(ratios(other->cpu, own->cpu)).c_str());
    }
  }
}

// The text tokens of the script; they are the same for every shape.
std::vector<transformer::TokenId> expected_text(const Options& options) {
  const ModelShape shape = random_models::published_shape("base");
  auto tokens = random_models::scripted_tokens(shape, integer(options["--tokens"], 1));
  const whisper::SpecialTokens special = whisper::special_tokens(shape.vocabulary);
  std::erase_if(tokens, [&](transformer::TokenId id) { return !special.is_text(id); });
  return tokens;
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const int rounds = integer(options["--rounds"], 1);
  const auto expected = expected_text(options);
  nlohmann::json report{
      {"machine", machine()}, {"rounds", rounds}, {"tokens", options["--tokens"]}, {"loadBefore", load_average()}};
  const test::TemporaryDirectory directory;
  for (const std::string& shape : words_of_list(options["--shapes"])) {
    std::vector<Row> rows = load(options, shape, directory.path());
    for (const int count : positive_integers(options["--windows"])) {
      const Windows windows = noise_windows(count);
      const std::vector<Row*> suited = rows_for(rows, count);
      measure(suited, windows, rounds, expected);
      std::printf(
          "\n| shape | windows at once | program | workers x threads | windows a second | ms a window (median) | ms "
          "(least) | processor ms a window |\n|---|--:|---|---|--:|--:|--:|--:|\n");
      for (auto& cell : print_times(shape, windows.size(), suited)) report["times"].push_back(std::move(cell));
      print_ratios(suited);
      std::fflush(stdout);
    }
  }
  report["loadAfter"] = load_average();
  std::printf("\nLoad %.1f before, %.1f after; %d rounds.\n", report["loadBefore"].get<double>(),
              report["loadAfter"].get<double>(), rounds);
  if (!options["--json"].empty()) write_json(options["--json"], report);
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
