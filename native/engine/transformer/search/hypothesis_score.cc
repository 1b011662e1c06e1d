#include "transformer/search/hypothesis_score.h"

#include <algorithm>
#include <cmath>

namespace verbatim::transformer {
namespace {

float coverage(const std::vector<std::vector<float>>& attention) {
  std::vector<float> sums(attention.front().size());
  for (const auto& row : attention) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
  }
  float total = 0.0f;
  for (const float sum : sums) {
    if (sum > 0.0f) total += std::log(std::min(sum, 1.0f));
  }
  return total;
}

}  // namespace

float final_score(const SearchHypothesis& hypothesis, const SearchOptions& options) {
  const auto length = static_cast<float>(hypothesis.ids.size());
  float score = hypothesis.score / std::pow(length, options.length_penalty);
  if (options.coverage_penalty != 0.0f) score += options.coverage_penalty * coverage(hypothesis.attention);
  return score;
}

std::vector<float> attention_row(const StepOutput& output, std::size_t row, std::size_t source_length) {
  const float* begin = output.attention + row * output.attention_stride;
  return {begin, begin + source_length};
}

}  // namespace verbatim::transformer
