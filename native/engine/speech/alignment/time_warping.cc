#include "speech/alignment/time_warping.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace verbatim::alignment {
namespace {

// Where a place of the path was come to from.
enum class From : std::uint8_t { kBoth, kToken, kPosition };

struct Step {
  float likeness;
  From from;
};

// Among equals the one that stays with its token.
Step best_of(float both, float token, float position) {
  if (both > token && both > position) return {both, From::kBoth};
  if (token > both && token > position) return {token, From::kToken};
  return {position, From::kPosition};
}

}  // namespace

std::vector<std::size_t> token_starts(const TokenMatrix& likeness) {
  constexpr float kNowhere = -std::numeric_limits<float>::infinity();
  const std::size_t tokens = likeness.tokens, positions = likeness.positions;
  std::vector<From> steps(tokens * positions, From::kPosition);
  // Best sums up to each position for the token before and this one; nothing lies before the first position.
  std::vector<float> before(positions + 1, kNowhere), sums(positions + 1, kNowhere);
  before[0] = 0.0f;
  for (std::size_t token = 0; token < tokens; ++token) {
    const auto row = likeness.row(token);
    sums[0] = kNowhere;
    for (std::size_t i = 0; i < positions; ++i) {
      const Step step = best_of(before[i], before[i + 1], sums[i]);
      sums[i + 1] = row[i] + step.likeness;
      steps[token * positions + i] = step.from;
    }
    std::swap(before, sums);
  }
  std::vector<std::size_t> starts(tokens);
  std::size_t token = tokens - 1, position = positions - 1;
  while (token > 0 || position > 0) {
    starts[token] = position;
    const From from = token == 0      ? From::kPosition
                      : position == 0 ? From::kToken
                                      : steps[token * positions + position];
    if (from != From::kPosition) --token;
    if (from != From::kToken) --position;
  }
  starts[0] = 0;
  return starts;
}

}  // namespace verbatim::alignment
