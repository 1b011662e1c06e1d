// Writes a Whisper model of a published shape with random weights.
//
//   make_model tiny|base|small|large-v3-turbo FILE [WEIGHTS] [SEED] [TOKENS]
//
// WEIGHTS: f16 (default), q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k or q6_k.
// With TOKENS every window is decoded to so many tokens of text.
#include <stdexcept>
#include <string>
#include <vector>

#include "options.h"
#include "program.h"
#include "testing/random_whisper_model.h"

namespace {

void run(const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() > 5) {
    throw std::invalid_argument("usage: make_model SHAPE FILE [WEIGHTS] [SEED] [TOKENS]");
  }
  const std::string weights = words.size() > 2 ? words[2] : "f16";
  const auto seed = static_cast<std::uint32_t>(words.size() > 3 ? verbatim::bench::integer(words[3], 0) : 1);
  const int text_tokens = words.size() > 4 ? verbatim::bench::integer(words[4], 1) : 0;
  verbatim::test::write_random_model(verbatim::test::published_shape(words[0], weights), seed, words[1],
                                     text_tokens);
}

}  // namespace

int main(int count, char** values) { return verbatim::bench::run_program(count, values, run); }
