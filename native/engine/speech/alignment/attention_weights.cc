#include "speech/alignment/attention_weights.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace verbatim::alignment {
namespace {

// Added to a weight before its logarithm is taken. With an even distribution over one second of audio, a position has
// the weight 0.02; this is a twentieth of that.
constexpr float kFloor = 0.001f;

}  // namespace

AttentionWeights::AttentionWeights(std::size_t heads, std::size_t tokens, std::vector<std::size_t> positions)
    : heads_(heads), tokens_(tokens), positions_(std::move(positions)), values_(heads * tokens * positions_.size()) {}

void AttentionWeights::set(std::size_t head, std::size_t token, std::span<const float> weights) noexcept {
  float sum = 0.0f;
  for (const std::size_t position : positions_) sum += weights[position];
  if (!(sum > 0.0f)) return;
  const float factor = 1.0f / sum;
  float* out = values_.data() + (head * tokens_ + token) * positions_.size();
  for (const std::size_t position : positions_) *out++ = weights[position] * factor;
}

TokenMatrix AttentionWeights::likeness() const {
  std::vector<std::size_t> all(heads_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return likeness(all);
}

TokenMatrix AttentionWeights::likeness(std::span<const std::size_t> heads) const {
  TokenMatrix matrix(tokens_, positions_.size());
  const float share = 1.0f / static_cast<float>(heads.size());
  for (const std::size_t head : heads) {
    const float* values = values_.data() + head * matrix.values.size();
    for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] += share * std::log(values[i] + kFloor);
  }
  return matrix;
}

}  // namespace verbatim::alignment
