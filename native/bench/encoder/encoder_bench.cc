// One 30-second window through the encoders that can be had: whisper.cpp alone, with the accelerator in its
// fastest type and in float32, and CTranslate2 in builds with it. They take turns, so that whatever slows the
// machine for a while slows all; medians, ratios of neighbouring runs, processor time, and how far each
// output is from float32. Random weights, in a temporary directory. Prints Markdown, writes JSON.
//
//   encoder_bench [--shapes base,small] [--weights f16] [--threads 1,2] [--rounds 5] [--json FILE]
//                 [--ct2-types float32,int8] [--model FILE]
#include <unistd.h>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "contestant.h"
#include "ct2_whisper.h"
#include "encoder_tap.h"
#include "measure.h"
#include "random_model.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

struct Arguments {
  std::vector<std::string> shapes{"base", "small"};
  std::string weights = "f16";
  std::vector<int> threads{1, 2};
  int rounds = 5;
  std::string json;
  std::vector<std::string> ct2_types{"float32", "int8"};
  // A file instead of random weights; without CTranslate2 then.
  std::string model;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--shapes")
      arguments.shapes = words_of_list(value);
    else if (words[i] == "--weights")
      arguments.weights = value;
    else if (words[i] == "--threads")
      arguments.threads = positive_integers(value);
    else if (words[i] == "--rounds")
      arguments.rounds = positive_integers(value).front();
    else if (words[i] == "--json")
      arguments.json = value;
    else if (words[i] == "--ct2-types")
      arguments.ct2_types = words_of_list(value);
    else if (words[i] == "--model")
      arguments.model = value;
    else
      throw std::invalid_argument("unknown option " + words[i]);
  }
  if (words.size() % 2 != 0) throw std::invalid_argument(words.back() + " needs a value");
  return arguments;
}

// A directory of this process, removed with the object.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("encoder-bench-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Contestants before CTranslate2's.
constexpr std::size_t kOurs = 3;

using Contestants = std::vector<std::unique_ptr<Contestant>>;

// The accelerator in its fastest type comes first: the others' times are compared with it.
Contestants contestants(const Arguments& arguments, const std::string& shape, const Scratch& scratch) {
  constexpr std::uint32_t kSeed = 1;
  const ModelShape sizes = published_shape(shape, arguments.weights);
  const std::filesystem::path file =
      arguments.model.empty() ? scratch.path() / (shape + ".bin") : std::filesystem::path(arguments.model);
  if (arguments.model.empty()) write_random_model(sizes, kSeed, file);
  const MelWindow window = noise_window(sizes.mels);
  Contestants all;
  for (const Acceleration acceleration : {Acceleration::kAuto, Acceleration::kFloat32, Acceleration::kOff}) {
    all.push_back(whisper_contestant(file, acceleration, window));
  }
#ifdef VERBATIM_CTRANSLATE2
  if (arguments.model.empty()) {
    const std::filesystem::path directory = scratch.path() / shape;
    write_ct2_whisper(sizes, kSeed, directory);
    for (const std::string& type : arguments.ct2_types)
      all.push_back(ct2_contestant(directory, type, window));
  }
#endif
  return all;
}

struct Distance {
  // ||a - b|| / ||b|| of the whole window, and of the position where that is largest.
  double overall = 0;
  double worst = 0;
};

Distance distance(const std::vector<float>& a, const std::vector<float>& b, std::size_t width) {
  if (a.size() != b.size()) throw std::runtime_error("outputs of different sizes");
  Distance result;
  double all_difference = 0;
  double all_norm = 0;
  for (std::size_t start = 0; start < a.size(); start += width) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = start; i < start + width; ++i) {
      difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
      norm += static_cast<double>(b[i]) * b[i];
    }
    result.worst = std::max(result.worst, std::sqrt(difference / norm));
    all_difference += difference;
    all_norm += norm;
  }
  result.overall = std::sqrt(all_difference / all_norm);
  return result;
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
    std::printf("| %s | %d | %s | %.0f | %.0f | %.2f (%.2f-%.2f) | %.0f | %.2f (%.2f-%.2f) |\n",
                shape.c_str(), threads, row.name.c_str(), median(row.wall), least(row.wall),
                median(row.wall_ratios), least(row.wall_ratios), most(row.wall_ratios), median(row.cpu),
                median(row.cpu_ratios), least(row.cpu_ratios), most(row.cpu_ratios));
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

// References: the accelerator's float32 for what runs on whisper.cpp, which attends to its padding, too;
// CTranslate2's float32 for CTranslate2.
nlohmann::json print_distances(const std::string& shape, const Contestants& all, std::size_t width) {
  const std::vector<float> float32 = all[1]->output();
  const std::vector<float> ct2_float32 = all.size() > kOurs ? all[kOurs]->output() : std::vector<float>();
  nlohmann::json cells = nlohmann::json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& contestant = all[i];
    const Distance from = distance(contestant->output(), i < kOurs ? float32 : ct2_float32, width);
    std::printf("| %s | %s | %.2e | %.2e |\n", shape.c_str(), contestant->name().c_str(), from.overall,
                from.worst);
    cells.push_back({{"shape", shape},
                     {"encoder", contestant->name()},
                     {"relativeError", from.overall},
                     {"largestRelativeError", from.worst}});
  }
  return cells;
}

void run(const Arguments& arguments) {
  const Scratch scratch;
  register_encoder_tap();
  nlohmann::json report{{"rounds", arguments.rounds}, {"weights", arguments.weights}};
  std::printf(
      "| shape | threads | encoder | ms (median) | ms (least) | by the accelerator's, pairs | processor ms | "
      "by the "
      "accelerator's, pairs |\n|---|--:|---|--:|--:|--:|--:|--:|\n");
  std::vector<std::pair<std::string, Contestants>> shapes;
  for (const std::string& shape : arguments.shapes) {
    shapes.emplace_back(shape, contestants(arguments, shape, scratch));
    for (const int threads : arguments.threads) {
      for (auto& cell :
           print_times(shape, threads, measure(shapes.back().second, threads, arguments.rounds))) {
        report["times"].push_back(std::move(cell));
      }
    }
  }
  std::printf("\n| shape | encoder | relative error | at the worst position |\n|---|---|--:|--:|\n");
  for (const auto& [shape, all] : shapes) {
    const auto width = static_cast<std::size_t>(published_shape(shape).audio_state);
    for (auto& cell : print_distances(shape, all, width)) report["errors"].push_back(std::move(cell));
  }
  if (!arguments.json.empty()) std::ofstream(arguments.json) << report.dump(2) << "\n";
}

}  // namespace

int main(int count, char** values) {
  try {
    sleep_while_waiting(values);
    run(parse({values + 1, values + count}));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
