#include "transformer/search/options.h"

#include <cmath>

#include "require_option.h"

namespace verbatim::transformer {

void SearchOptions::check() const {
  require_option(beam_size >= 1 && beam_size <= 64, "beam_size", beam_size, "1 to 64");
  require_option(patience > 0.0f && std::isfinite(patience), "patience", patience, "a number above 0");
  const long most = std::lround(static_cast<float>(beam_size) * patience);
  require_option(num_hypotheses >= 1 && num_hypotheses <= most, "num_hypotheses", num_hypotheses,
                 "1 to beam_size * patience");
  require_option(most >= 1, "patience", patience, "a number for which beam_size * patience is at least 1");
  require_option(std::isfinite(length_penalty), "length_penalty", length_penalty, "a finite number");
  require_option(std::isfinite(coverage_penalty), "coverage_penalty", coverage_penalty, "a finite number");
  require_option(repetition_penalty > 0.0f && std::isfinite(repetition_penalty), "repetition_penalty",
                 repetition_penalty, "a number above 0");
  require_option(no_repeat_ngram_size >= 0, "no_repeat_ngram_size", no_repeat_ngram_size, "0 or more");
  require_option(max_decoding_length >= 1, "max_decoding_length", max_decoding_length, "1 or more");
  require_option(min_decoding_length >= 0 && min_decoding_length <= max_decoding_length, "min_decoding_length",
                 min_decoding_length, "0 to max_decoding_length");
}

}  // namespace verbatim::transformer
