#include "speech/alignment/attention_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace verbatim::alignment {
namespace {

constexpr std::size_t kReach = 3;

// Mean and what to multiply by, for each position.
struct Scales {
  std::vector<float> means;
  std::vector<float> factors;
};

void order(float& a, float& b) {
  const float low = std::min(a, b);
  b = std::max(a, b);
  a = low;
}

// A sorting network as far as the fourth of seven needs it, so that a loop over it becomes vector
// instructions.
float median(float a, float b, float c, float d, float e, float f, float g) {
  order(a, f), order(a, d), order(b, g), order(c, e), order(a, b), order(d, f), order(c, g);
  order(c, d), order(d, g), order(e, f), order(b, e), order(b, d), order(d, e);
  return d;
}

}  // namespace

void median_of_seven(std::span<const float> values, std::span<float> out) {
  const std::size_t size = values.size();
  if (size <= kReach) {
    std::ranges::copy(values, out.begin());
    return;
  }
  std::vector<float> padded(size + 2 * kReach);
  std::ranges::copy(values, padded.begin() + kReach);
  for (std::size_t i = 1; i <= kReach; ++i) {
    padded[kReach - i] = values[i];
    padded[kReach + size - 1 + i] = values[size - 1 - i];
  }
  const float* x = padded.data();
  float* y = out.data();
  for (std::size_t i = 0; i < size; ++i)
    y[i] = median(x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6]);
}

AttentionWeights::AttentionWeights(std::size_t heads, std::size_t tokens, std::size_t positions)
    : heads_(heads), tokens_(tokens), positions_(positions), values_(heads * tokens * positions) {}

void AttentionWeights::set(std::size_t head, std::size_t token, std::span<const float> weights) noexcept {
  const auto sound = weights.first(positions_);
  const float sum = std::accumulate(sound.begin(), sound.end(), 0.0f);
  if (!(sum > 0.0f)) return;
  const float factor = 1.0f / sum;
  float* out = values_.data() + (head * tokens_ + token) * positions_;
  for (std::size_t i = 0; i < positions_; ++i) out[i] = sound[i] * factor;
}

std::span<const float> AttentionWeights::row(std::size_t head, std::size_t token) const noexcept {
  return std::span(values_).subspan((head * tokens_ + token) * positions_, positions_);
}

TokenMatrix AttentionWeights::likeness() const {
  std::vector<std::size_t> all(heads_);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return likeness(all);
}

TokenMatrix AttentionWeights::likeness(std::span<const std::size_t> heads) const {
  TokenMatrix matrix(tokens_, positions_);
  const float part = 1.0f / static_cast<float>(tokens_);
  const float share = 1.0f / static_cast<float>(heads.size());
  std::vector<float> normalised(positions_), smooth(positions_);
  for (const std::size_t head : heads) {
    Scales scales{std::vector<float>(positions_), std::vector<float>(positions_)};
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto values = row(head, token);
      for (std::size_t i = 0; i < positions_; ++i) scales.means[i] += values[i] * part;
    }
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto values = row(head, token);
      for (std::size_t i = 0; i < positions_; ++i) {
        const float distance = values[i] - scales.means[i];
        scales.factors[i] += distance * distance * part;
      }
    }
    // Where every token is the same there is nothing to tell them apart by.
    for (float& factor : scales.factors) factor = factor > 0.0f ? share / std::sqrt(factor) : 0.0f;
    for (std::size_t token = 0; token < tokens_; ++token) {
      const auto values = row(head, token);
      for (std::size_t i = 0; i < positions_; ++i)
        normalised[i] = (values[i] - scales.means[i]) * scales.factors[i];
      median_of_seven(normalised, smooth);
      const auto sums = matrix.row(token);
      for (std::size_t i = 0; i < positions_; ++i) sums[i] += smooth[i];
    }
  }
  return matrix;
}

}  // namespace verbatim::alignment
