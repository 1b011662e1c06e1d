#pragma once

#include "transformer/search/search.h"

namespace verbatim::transformer {

// Score of a finished hypothesis: its sum of log-probabilities divided by length ^ length_penalty (prefix and end token
// count), plus the coverage penalty over its attention. The penalty leaves out source positions without any attention.
float final_score(const SearchHypothesis& hypothesis, const SearchOptions& options);

// A row of the recorded attention over the source positions.
std::vector<float> attention_row(const StepOutput& output, std::size_t row, std::size_t source_length);

}  // namespace verbatim::transformer
