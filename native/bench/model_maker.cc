#include "model_maker.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "options.h"
#include "speech/random_models/ggml_writer.h"
#include "speech/random_models/random_whisper_model.h"
#include "testing/random_parakeet_model.h"

namespace verbatim::bench {
namespace {

struct Wanted {
  std::string shape;
  std::string file;
  std::string weights = "f16";
  std::uint32_t seed = 1;
  // Text tokens of a window; 0: not scripted.
  int tokens = 0;
  random_models::WeightTraits traits;
};

Wanted read(const std::vector<std::string>& all) {
  const Options options({.flags = {"--outliers", "--sharp-heads"}, .most_operands = 5}, all);
  const std::vector<std::string>& words = options.operands();
  if (words.size() < 2) {
    throw std::invalid_argument("usage: make_model SHAPE FILE [WEIGHTS] [SEED] [TOKENS] [--outliers] [--sharp-heads]");
  }
  Wanted wanted{.shape = words[0], .file = words[1]};
  if (words.size() > 2) wanted.weights = words[2];
  if (words.size() > 3) wanted.seed = static_cast<std::uint32_t>(integer(words[3], 0));
  if (words.size() > 4) wanted.tokens = integer(words[4], 1);
  wanted.traits = {.outliers = options.has_flag("--outliers"), .sharp_heads = options.has_flag("--sharp-heads")};
  return wanted;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void make_parakeet(const Wanted& wanted) {
  if (wanted.tokens > 0) {
    throw std::invalid_argument("TOKENS is " + std::to_string(wanted.tokens) +
                                "; it is for Whisper's shapes: a Parakeet model writes by what it recognises");
  }
  if (wanted.traits != random_models::WeightTraits{}) {
    throw std::invalid_argument("--outliers and --sharp-heads are for Whisper's shapes");
  }
  test::write_random_parakeet_model(test::parakeet_shape(wanted.shape, wanted.weights), wanted.seed, wanted.file);
}

}  // namespace

void make_model(const std::vector<std::string>& words) {
  const Wanted wanted = read(words);
  if (is_among(test::parakeet_shapes(), wanted.shape)) return make_parakeet(wanted);
  if (!is_among(random_models::published_shapes(), wanted.shape)) {
    throw std::invalid_argument("\"" + wanted.shape +
                                "\" is no shape; allowed: " + random_models::listed(random_models::published_shapes()) +
                                ", " + random_models::listed(test::parakeet_shapes()));
  }
  random_models::write_random_model(random_models::published_shape(wanted.shape, wanted.weights), wanted.seed,
                                    wanted.file, wanted.tokens, wanted.traits);
}

}  // namespace verbatim::bench
