#include "speech/alignment/attention_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace verbatim::alignment {
namespace {

using Values = std::vector<float>;

Values medians(const Values& values) {
  Values out(values.size());
  median_of_seven(values, out);
  return out;
}

// As it is defined.
Values sorted_medians(const Values& values) {
  const auto size = static_cast<std::ptrdiff_t>(values.size());
  Values out;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    Values around;
    for (std::ptrdiff_t j = i - 3; j <= i + 3; ++j) {
      const std::ptrdiff_t mirrored = j < 0 ? -j : j >= size ? 2 * (size - 1) - j : j;
      around.push_back(values[static_cast<std::size_t>(mirrored)]);
    }
    std::ranges::sort(around);
    out.push_back(around[3]);
  }
  return out;
}

}  // namespace

TEST_CASE("the median of seven is that of every order of seven values") {
  Values values{1, 2, 3, 4, 5, 6, 7};
  do {
    if (medians(values)[3] == 4) continue;
    FAIL("wrong");
  } while (std::ranges::next_permutation(values).found);
}

TEST_CASE("the median of seven mirrors the ends and leaves short rows alone") {
  CHECK(medians({}) == Values{});
  CHECK(medians({5, 1, 3}) == Values{5, 1, 3});
  // Around the first: 9 2 7 [1] 7 2 9.
  CHECK(medians({1, 7, 2, 9}) == Values{7, 2, 7, 2});
  CHECK(medians({0, 0, 0, 0, 9, 0, 0, 0, 0}) == Values(9, 0.0f));
  std::mt19937 random(1);
  std::normal_distribution<float> value;
  for (std::size_t size = 4; size < 40; ++size) {
    Values values(size);
    for (float& x : values) x = value(random);
    CHECK(medians(values) == sorted_medians(values));
  }
}

TEST_CASE("attention: what lies past the sound is left out, and the rest is scaled") {
  AttentionWeights weights(1, 2, 2);
  weights.set(0, 0, std::array{0.3f, 0.1f, 0.6f});
  weights.set(0, 1, std::array{0.1f, 0.1f, 0.8f});
  // Shares of the sound: 3/4 and 1/4, 1/2 and 1/2; two values' deviation from their mean is 1.
  const TokenMatrix matrix = weights.likeness();
  CHECK(matrix.row(0)[0] == doctest::Approx(1));
  CHECK(matrix.row(0)[1] == doctest::Approx(-1));
  CHECK(matrix.row(1)[0] == doctest::Approx(-1));
  CHECK(matrix.row(1)[1] == doctest::Approx(1));
}

TEST_CASE("attention: heads are normalised one by one, and any of them can be asked for") {
  AttentionWeights weights(2, 3, 1);
  // Mean 2/3 and deviation sqrt(2)/3 of 1, 0 and 1: but every row of one position is 1 when it is scaled.
  for (std::size_t token = 0; token < 3; ++token) weights.set(0, token, std::array{0.5f});
  for (std::size_t token = 0; token < 3; ++token) weights.set(1, token, std::array{token == 1 ? 0.0f : 1.0f});
  const std::array<std::size_t, 1> first{0}, second{1};
  const float high = std::sqrt(0.5f);
  CHECK(weights.likeness(first).values == Values{0, 0, 0});
  const TokenMatrix alone = weights.likeness(second);
  CHECK(alone.values[0] == doctest::Approx(high));
  CHECK(alone.values[1] == doctest::Approx(-2 * high));
  CHECK(weights.likeness().values[1] == doctest::Approx(-high));
}

TEST_CASE("attention: weights that are nothing, or no numbers, leave numbers") {
  AttentionWeights weights(1, 3, 5);
  weights.set(0, 0, Values(5, 0.0f));
  weights.set(0, 1, Values(5, std::numeric_limits<float>::quiet_NaN()));
  weights.set(0, 2, Values(5, 0.2f));
  for (const float value : weights.likeness().values) CHECK(std::isfinite(value));
}

}  // namespace verbatim::alignment
