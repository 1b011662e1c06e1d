#include "translation/options.h"

#include <cmath>

#include "error.h"

namespace verbatim::translation {
namespace {

template <typename T>
void require(bool holds, const char* name, T value, const char* allowed) {
  if (holds) return;
  throw EngineError(ErrorCode::kInvalidArgument,
                    std::string(name) + " is " + std::to_string(value) + "; " + allowed + " is allowed");
}

}  // namespace

void TranslationOptions::check() const {
  require(beam_size >= 1 && beam_size <= 64, "beam_size", beam_size, "1 to 64");
  require(patience > 0.0f && std::isfinite(patience), "patience", patience, "a number above 0");
  const long most = std::lround(static_cast<float>(beam_size) * patience);
  require(num_hypotheses >= 1 && num_hypotheses <= most, "num_hypotheses", num_hypotheses,
          "1 to beam_size * patience");
  require(most >= 1, "patience", patience, "a number for which beam_size * patience is at least 1");
  require(std::isfinite(length_penalty), "length_penalty", length_penalty, "a finite number");
  require(std::isfinite(coverage_penalty), "coverage_penalty", coverage_penalty, "a finite number");
  require(repetition_penalty > 0.0f && std::isfinite(repetition_penalty), "repetition_penalty",
          repetition_penalty, "a number above 0");
  require(no_repeat_ngram_size >= 0, "no_repeat_ngram_size", no_repeat_ngram_size, "0 or more");
  require(max_input_length >= 0, "max_input_length", max_input_length, "0 or more");
  require(max_decoding_length >= 1, "max_decoding_length", max_decoding_length, "1 or more");
  require(min_decoding_length >= 0 && min_decoding_length <= max_decoding_length, "min_decoding_length",
          min_decoding_length, "0 to max_decoding_length");
  require(max_batch_size >= 1, "max_batch_size", max_batch_size, "1 or more");
}

}  // namespace verbatim::translation
