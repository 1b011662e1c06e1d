#include "speech/alignment/attention_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace verbatim::alignment {
namespace {

using Values = std::vector<float>;

}  // namespace

TEST_CASE("attention: positions without sound are left out, and the rest is scaled") {
  AttentionWeights weights(1, 2, {0, 2});
  weights.set(0, 0, std::array{0.3f, 0.2f, 0.1f, 0.4f});
  weights.set(0, 1, std::array{0.1f, 0.1f, 0.1f, 0.7f});
  const TokenMatrix matrix = weights.likeness();
  REQUIRE(matrix.positions == 2);
  CHECK(matrix.row(0)[0] == doctest::Approx(std::log(0.751)));
  CHECK(matrix.row(0)[1] == doctest::Approx(std::log(0.251)));
  CHECK(matrix.row(1)[0] == doctest::Approx(std::log(0.501)));
}

TEST_CASE("attention: the mean of some heads' logarithms, or of all") {
  AttentionWeights weights(2, 1, {0, 1});
  weights.set(0, 0, std::array{0.9f, 0.1f});
  weights.set(1, 0, std::array{0.4f, 0.6f});
  const std::array<std::size_t, 1> second{1};
  CHECK(weights.likeness(second).values[1] == doctest::Approx(std::log(0.601)));
  CHECK(weights.likeness().values[1] == doctest::Approx((std::log(0.101) + std::log(0.601)) / 2));
}

TEST_CASE("attention: weights of 0 and NaN give finite results") {
  AttentionWeights weights(1, 3, {0, 1, 2, 3, 4});
  weights.set(0, 0, Values(5, 0.0f));
  weights.set(0, 1, Values(5, std::numeric_limits<float>::quiet_NaN()));
  weights.set(0, 2, Values(5, 0.2f));
  for (const float value : weights.likeness().values) CHECK(std::isfinite(value));
}

}  // namespace verbatim::alignment
