#include "speech/alignment/token_durations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace verbatim::alignment {
namespace {

constexpr float kWeight = 16.0f;
// Longest length of a token, in positions. A token may also be three times its expected length. The expected lengths
// sum up to all positions, so that a path always exists.
constexpr std::size_t kLongest = 80;
constexpr float kMostTimesExpected = 3.0f;

// The penalty of each length from 0 on, in positions.
std::vector<float> losses(float expected, std::size_t positions) {
  const auto most = static_cast<std::size_t>(std::ceil(kMostTimesExpected * expected));
  std::vector<float> result(std::min(std::max(kLongest, most), positions) + 1);
  for (std::size_t length = 0; length < result.size(); ++length) {
    const float ratio = std::log((static_cast<float>(length) + 0.5f) / (expected + 0.5f));
    result[length] = kWeight * ratio * ratio;
  }
  return result;
}

}  // namespace

std::vector<std::size_t> token_starts(const TokenMatrix& likeness, std::span<const float> lengths) {
  constexpr float kNowhere = -std::numeric_limits<float>::infinity();
  const std::size_t tokens = likeness.tokens, positions = likeness.positions, ends = positions + 1;
  const float scale = static_cast<float>(positions) / std::accumulate(lengths.begin(), lengths.end(), 0.0f);
  // best: for each position, the best sum of the tokens so far if they end there. taken: the last token's length then.
  std::vector<float> best(ends, kNowhere), sums(ends), reached(ends);
  std::vector<std::uint16_t> taken(tokens * ends);
  best[0] = 0.0f;
  for (std::size_t token = 0; token < tokens; ++token) {
    const auto row = likeness.row(token);
    for (std::size_t i = 0; i < positions; ++i) sums[i + 1] = sums[i] + row[i];
    for (std::size_t i = 0; i < ends; ++i) best[i] -= sums[i];
    const std::vector<float> loss = losses(lengths[token] * scale, positions);
    std::uint16_t* own = taken.data() + token * ends;
    std::ranges::fill(reached, kNowhere);
    for (std::size_t length = 0; length < loss.size(); ++length) {
      const float minus = loss[length];
      const auto here = static_cast<std::uint16_t>(length);
      for (std::size_t end = length; end < ends; ++end) {
        const float sum = best[end - length] - minus;
        const bool better = sum > reached[end];
        reached[end] = better ? sum : reached[end];
        own[end] = better ? here : own[end];
      }
    }
    for (std::size_t i = 0; i < ends; ++i) best[i] = reached[i] + sums[i];
  }
  std::vector<std::size_t> starts(tokens + 1, positions);
  for (std::size_t token = tokens; token-- > 0;) {
    const std::size_t end = starts[token + 1];
    starts[token] = end - taken[token * ends + end];
  }
  starts[0] = 0;
  return starts;
}

}  // namespace verbatim::alignment
