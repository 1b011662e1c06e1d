// Runs one 30-second window through the available encoders: whisper.cpp and this engine's graphs, each alone, with the
// accelerator in its fastest type and in float32, and CTranslate2 in builds with it. They take turns, so that a
// temporary slowdown of the machine affects all of them. Reports medians, ratios of neighbouring runs, processor time,
// and each output's distance from float32. Random weights, in a temporary directory. Prints Markdown, writes JSON.
//
//   encoder_bench [--shapes base,small] [--weights f16] [--threads 1,2] [--rounds 5] [--json FILE]
//                 [--ct2-types float32,int8] [--model FILE] [--kernels NAME,...]
//
// --model: a file instead of random weights, of the given shape; excludes CTranslate2. --kernels: on which
// of this engine's kernels int8 runs; default: the best of this processor.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "contestants.h"
#include "distance.h"
#include "encoder_tap.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/random_models/random_whisper_model.h"
#include "testing/temporary_directory.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

Options parse(const std::vector<std::string>& words) {
  return Options({.defaults = {{"--shapes", "base,small"},
                               {"--weights", "f16"},
                               {"--threads", "1,2"},
                               {"--rounds", "5"},
                               {"--json", ""},
                               {"--ct2-types", "float32,int8"},
                               {"--model", ""},
                               {"--kernels", transformer::kernels().name}}},
                 words);
}

Contestants contestants(const Options& options, const std::string& shape, const std::filesystem::path& directory) {
  std::vector<const transformer::Kernels*> kernels;
  for (const std::string& name : words_of_list(options["--kernels"])) kernels.push_back(&kernels_of(name));
  const ModelShape sizes = random_models::published_shape(shape, options["--weights"]);
  if (!options["--model"].empty()) return whisper_contestants(options["--model"], sizes.mels, kernels);
  return random_contestants(sizes, shape, kernels, words_of_list(options["--ct2-types"]), directory);
}

struct Row {
  std::string name;
  std::vector<double> wall, cpu, wall_ratios, cpu_ratios;
};

std::vector<Row> measure(const Contestants& all, int threads, int rounds) {
  std::vector<Row> rows;
  for (const auto& contestant : all) {
    contestant->encode(threads);
    rows.push_back({contestant->name(), {}, {}, {}, {}});
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Cost cost = cost_of([&] { all[i]->encode(threads); });
      rows[i].wall.push_back(cost.wall_ms);
      rows[i].cpu.push_back(cost.cpu_ms);
      rows[i].wall_ratios.push_back(cost.wall_ms / rows[0].wall.back());
      rows[i].cpu_ratios.push_back(cost.cpu_ms / rows[0].cpu.back());
    }
  }
  return rows;
}

nlohmann::json print_times(const std::string& shape, int threads, const std::vector<Row>& rows) {
  nlohmann::json cells = nlohmann::json::array();
  for (const Row& row : rows) {
    std::printf("| %s | %d | %s | %.0f | %.0f | %.2f (%.2f-%.2f) | %.0f | %.2f (%.2f-%.2f) |\n", shape.c_str(), threads,
                row.name.c_str(), median(row.wall), least(row.wall), median(row.wall_ratios), least(row.wall_ratios),
                most(row.wall_ratios), median(row.cpu), median(row.cpu_ratios), least(row.cpu_ratios),
                most(row.cpu_ratios));
    cells.push_back({{"shape", shape},
                     {"threads", threads},
                     {"encoder", row.name},
                     {"wallMs", row.wall},
                     {"cpuMs", row.cpu},
                     {"wallRatios", row.wall_ratios},
                     {"cpuRatios", row.cpu_ratios}});
  }
  std::fflush(stdout);
  return cells;
}

// References: the accelerator's float32 for encoders on whisper.cpp, which attends to its padding too; this engine's
// float32 for its own; CTranslate2's float32 for CTranslate2.
nlohmann::json print_distances(const std::string& shape, const Contestants& all, std::size_t width) {
  const auto is_ct2 = [&](std::size_t i) { return all[i]->name().starts_with("CTranslate2"); };
  std::size_t first_of_ct2 = kOnWhisper;
  while (first_of_ct2 < all.size() && !is_ct2(first_of_ct2)) ++first_of_ct2;
  std::vector<std::vector<float>> float32{all[1]->output(), all[kOnWhisper + 1]->output()};
  if (first_of_ct2 < all.size()) float32.push_back(all[first_of_ct2]->output());
  nlohmann::json cells = nlohmann::json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& contestant = all[i];
    const std::size_t group = i < kOnWhisper ? 0 : i < first_of_ct2 ? 1 : 2;
    const Distance from = distance(contestant->output(), float32[group], width);
    std::printf("| %s | %s | %.2e | %.2e |\n", shape.c_str(), contestant->name().c_str(), from.overall, from.worst);
    cells.push_back({{"shape", shape},
                     {"encoder", contestant->name()},
                     {"relativeError", from.overall},
                     {"largestRelativeError", from.worst}});
  }
  return cells;
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const int rounds = integer(options["--rounds"], 1);
  const std::vector<int> thread_counts = positive_integers(options["--threads"]);
  const test::TemporaryDirectory directory;
  register_encoder_tap();
  nlohmann::json report{{"rounds", rounds}, {"weights", options["--weights"]}};
  std::printf(
      "| shape | threads | encoder | ms (median) | ms (least) | by the accelerator's, pairs | processor ms | "
      "by the accelerator's, pairs |\n|---|--:|---|--:|--:|--:|--:|--:|\n");
  std::vector<std::pair<std::string, Contestants>> shapes;
  for (const std::string& shape : words_of_list(options["--shapes"])) {
    shapes.emplace_back(shape, contestants(options, shape, directory.path()));
    for (const int threads : thread_counts) {
      const std::vector<Row> rows = measure(shapes.back().second, threads, rounds);
      for (auto& cell : print_times(shape, threads, rows)) report["times"].push_back(std::move(cell));
    }
  }
  std::printf("\n| shape | encoder | relative error | at the worst position |\n|---|---|--:|--:|\n");
  for (const auto& [shape, all] : shapes) {
    const auto width = static_cast<std::size_t>(random_models::published_shape(shape).audio_state);
    for (auto& cell : print_distances(shape, all, width)) report["errors"].push_back(std::move(cell));
  }
  if (!options["--json"].empty()) write_json(options["--json"], report);
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
