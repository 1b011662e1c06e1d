// Compares a Parakeet model with and without the accelerator, and on this engine's kernels, to whisper.cpp's command
// line: the same noise, in turns, by processor time.
//
//   parakeet_bench MODEL [--seconds 2,5,10,20,30] [--threads 1] [--rounds 3] [--accelerators off,auto]
//                  [--types int8] [--kernels NAME,...]
//
// --types: int8, float32 or none, by the kernels alone; --kernels: on which, default: the best of this processor.
// whisper.cpp is parakeet_full, as parakeet-cli calls it. The ratio is whisper.cpp's processor time over a slot's in
// the same round: median, least, most. `first` is the time of the first window of that length, for which the
// accelerator makes its primitives.
#include <parakeet.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "audio/sample_rate.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/load_slot_model.h"
#include "speech/parakeet/cpu_slot.h"
#include "speech/random_models/noise.h"
#include "speech/whisper_log.h"

namespace {

using namespace verbatim;

Window noise_of(int seconds) {
  Window window;
  window.samples = random_models::noise(static_cast<std::size_t>(seconds) * kSampleRate, 7);
  for (std::size_t i = 0; i < window.samples.size(); ++i) {
    window.samples[i] *= 0.3f * std::abs(std::sin(static_cast<float>(i) / 3000.0f));
  }
  return window;
}

// Decodes a window and returns the tokens' ids.
struct Contestant {
  std::string name;
  std::function<std::vector<int>(const Window&)> decode;
};

Contestant whisper_cpp(const std::string& path, int threads) {
  struct Free {
    void operator()(parakeet_context* context) const noexcept { parakeet_free(context); }
  };
  parakeet_context_params params = parakeet_context_default_params();
  params.use_gpu = false;
  const std::shared_ptr<parakeet_context> context(parakeet_init_from_file_with_params(path.c_str(), params), Free{});
  if (!context) throw std::runtime_error("whisper.cpp does not load " + path);
  return {
      "whisper.cpp", [context, threads](const Window& window) {
        parakeet_full_params full = parakeet_full_default_params(PARAKEET_SAMPLING_GREEDY);
        full.n_threads = threads;
        if (parakeet_full(context.get(), full, window.samples.data(), static_cast<int>(window.samples.size())) != 0) {
          throw std::runtime_error("whisper.cpp failed");
        }
        std::vector<int> ids;
        for (int segment = 0; segment < parakeet_full_n_segments(context.get()); ++segment) {
          for (int i = 0; i < parakeet_full_n_tokens(context.get(), segment); ++i) {
            ids.push_back(parakeet_full_get_token_id(context.get(), segment, i));
          }
        }
        return ids;
      }};
}

Contestant contestant_of(const std::string& name, std::shared_ptr<WindowSlot> slot) {
  return {name, [slot = std::move(slot)](const Window& window) {
            DecodeOptions options;
            options.language = "en";
            std::vector<int> ids;
            for (const Segment& segment : slot->transcribe(window, options, nullptr).segments) {
              for (const Token& token : segment.tokens) ids.push_back(token.id);
            }
            return ids;
          }};
}

Contestant slot_of(const std::string& path, const std::string& accelerator, int threads) {
  const auto model = load_slot_model(path, "cpu", bench::accelerator_mode(accelerator));
  return contestant_of(model->info().accelerator.empty() ? "slot" : model->info().accelerator,
                       model->make_slot(threads));
}

void add_kernels(const std::string& path, const bench::Options& options, int threads,
                 std::vector<Contestant>& contestants) {
  for (const std::string& type : bench::words_of_list(options["--types"])) {
    if (type == "none") continue;
    if (type != "int8" && type != "float32") throw std::invalid_argument("--types is int8, float32 or none");
    const auto compute = type == "int8" ? transformer::ComputeType::kInt8 : transformer::ComputeType::kFloat32;
    const auto model = parakeet::CpuModel::load(path, {compute, nullptr});
    for (const std::string& name : bench::words_of_list(options["--kernels"])) {
      contestants.push_back(contestant_of(
          type + " " + name, std::make_shared<parakeet::CpuSlot>(model, threads, bench::kernels_of(name))));
    }
  }
}

void compare(const std::vector<Contestant>& contestants, int seconds, int rounds) {
  const Window window = noise_of(seconds);
  std::vector<std::size_t> tokens;
  std::vector<double> first;
  for (const Contestant& contestant : contestants) {
    first.push_back(bench::cost_of([&] { tokens.push_back(contestant.decode(window).size()); }).cpu_ms);
  }
  std::vector<std::vector<double>> costs(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      costs[i].push_back(bench::cost_of([&] { contestants[i].decode(window); }).cpu_ms);
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < costs[i].size(); ++round) {
      ratios.push_back(costs[0][round] / costs[i][round]);
    }
    std::printf("%3d s  %-16s %9.1f ms of processor time (first %.1f)  ratio %5.2f (%.2f-%.2f)  %zu tokens\n", seconds,
                contestants[i].name.c_str(), bench::median(costs[i]), first[i], bench::median(ratios),
                bench::least(ratios), bench::most(ratios), tokens[i]);
  }
  std::fflush(stdout);
}

void run(const std::vector<std::string>& words) {
  const bench::Options options({.defaults = {{"--seconds", "2,5,10,20,30"},
                                             {"--threads", "1"},
                                             {"--rounds", "3"},
                                             {"--accelerators", "off,auto"},
                                             {"--types", "int8"},
                                             {"--kernels", transformer::kernels().name}},
                                .most_operands = 1},
                               words);
  if (options.operands().size() != 1) throw std::invalid_argument("usage: parakeet_bench MODEL [options]");
  const std::string& path = options.operands().front();
  const int threads = bench::integer(options["--threads"], 1);
  capture_whisper_log();
  std::vector<Contestant> contestants{whisper_cpp(path, threads)};
  for (const std::string& accelerator : bench::words_of_list(options["--accelerators"])) {
    contestants.push_back(slot_of(path, accelerator, threads));
  }
  add_kernels(path, options, threads, contestants);
  for (const int seconds : bench::positive_integers(options["--seconds"])) {
    compare(contestants, seconds, bench::integer(options["--rounds"], 1));
  }
}

}  // namespace

int main(int count, char** values) {
  verbatim::bench::sleep_while_waiting(values);
  return verbatim::bench::run_program(count, values, run);
}
