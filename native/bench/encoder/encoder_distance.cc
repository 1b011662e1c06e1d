// How far does rounding move the encoder's output? Encodes a window of 30 s of noise with models of random weights,
// plain and with traits of trained ones, and compares with this engine's float32 on the unrounded weights (a file in
// f32): int8 on each of the kernels, the encoder that `auto` takes, and float32 on the same file, which shows what the
// file's own type costs. What is compared are the keys and values of cross-attention. In builds with CTranslate2 also
// CTranslate2's encoder in int8, from its own in float32. Prints Markdown.
//
//   encoder_distance [--shapes base,small] [--weights f16,q8_0,q5_1,q4_0] [--kernels NAME,...]
//                    [--traits plain,outliers,sharp-heads,both]
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "contestant.h"
#include "ct2_whisper.h"
#include "distance.h"
#include "options.h"
#include "program.h"
#include "speech/random_models/random_whisper_model.h"
#include "testing/temporary_directory.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;
using random_models::WeightTraits;

constexpr std::uint32_t kSeed = 1;

WeightTraits traits_of(const std::string& name) {
  static const std::map<std::string, WeightTraits> kTraits = {{"plain", {}},
                                                              {"outliers", {.outliers = true}},
                                                              {"sharp-heads", {.sharp_heads = true}},
                                                              {"both", {.outliers = true, .sharp_heads = true}}};
  const auto found = kTraits.find(name);
  if (found != kTraits.end()) return found->second;
  throw std::invalid_argument("\"" + name + "\" is no trait: plain, outliers, sharp-heads and both are");
}

// One shape with one set of traits.
struct Trial {
  std::string shape;
  std::string traits;
  std::filesystem::path directory;

  ModelShape sizes(const std::string& weights) const { return random_models::published_shape(shape, weights); }
  std::filesystem::path file(const std::string& weights) const {
    const std::filesystem::path path = directory / "model.bin";
    random_models::write_random_model(sizes(weights), kSeed, path, 0, traits_of(traits));
    return path;
  }
  void print(const std::string& weights, const std::string& encoder, const std::vector<float>& output,
             const std::vector<float>& exact) const {
    const Distance from = distance(output, exact, static_cast<std::size_t>(sizes("f32").audio_state));
    std::printf("| %s | %s | %s | %s | %.2e | %.2e |\n", shape.c_str(), traits.c_str(), weights.c_str(),
                encoder.c_str(), from.overall, from.worst);
    std::fflush(stdout);
  }
};

void compare_own(const Trial& trial, const Options& options) {
  const std::vector<float> exact = float32_contestant(trial.file("f32"))->output();
  for (const std::string& weights : words_of_list(options["--weights"])) {
    const std::filesystem::path file = trial.file(weights);
    trial.print(weights, "float32", float32_contestant(file)->output(), exact);
    const auto usual = own_contestant(file, AcceleratorMode::kAuto);
    trial.print(weights, usual->name(), usual->output(), exact);
    for (const std::string& name : words_of_list(options["--kernels"])) {
      const auto int8 = int8_contestant(file, kernels_of(name));
      trial.print(weights, int8->name(), int8->output(), exact);
    }
  }
}

#ifdef VERBATIM_CTRANSLATE2
void compare_ct2(const Trial& trial) {
  write_ct2_whisper(trial.sizes("f16"), kSeed, trial.directory / "ct2", 0, traits_of(trial.traits));
  const MelWindow window = noise_window(trial.sizes("f16").mels);
  const std::vector<float> exact = ct2_contestant(trial.directory / "ct2", "float32", window)->output();
  const auto int8 = ct2_contestant(trial.directory / "ct2", "int8", window);
  trial.print("f16", int8->name(), int8->output(), exact);
}
#else
void compare_ct2(const Trial& /*trial*/) {}
#endif

void run(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--shapes", "base,small"},
                                      {"--weights", "f16,q8_0,q5_1,q4_0"},
                                      {"--kernels", transformer::kernels().name},
                                      {"--traits", "plain,outliers,sharp-heads,both"}}},
                        words);
  const test::TemporaryDirectory directory;
  std::printf("| shape | traits | weights | encoder | distance | at the worst position |\n|---|---|---|---|--:|--:|\n");
  for (const std::string& shape : words_of_list(options["--shapes"])) {
    for (const std::string& traits : words_of_list(options["--traits"])) {
      const Trial trial{shape, traits, directory.path()};
      compare_own(trial, options);
      compare_ct2(trial);
    }
  }
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
