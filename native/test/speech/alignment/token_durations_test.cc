#include "speech/alignment/token_durations.h"
#include "support/seed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

namespace verbatim::alignment {
namespace {

using Starts = std::vector<std::size_t>;

TokenMatrix matrix_of(std::initializer_list<std::initializer_list<float>> rows) {
  TokenMatrix matrix(rows.size(), rows.begin()->size());
  std::size_t token = 0;
  for (const auto& row : rows) std::ranges::copy(row, matrix.row(token++).begin());
  return matrix;
}

// The value of these starts by the definition.
double worth(const TokenMatrix& matrix, const std::vector<float>& lengths, const Starts& starts) {
  double all = 0.0, sum = 0.0;
  for (const float length : lengths) all += static_cast<double>(length);
  for (std::size_t token = 0; token < matrix.tokens; ++token) {
    for (std::size_t i = starts[token]; i < starts[token + 1]; ++i) sum += static_cast<double>(matrix.row(token)[i]);
    const double expected = static_cast<double>(lengths[token]) * static_cast<double>(matrix.positions) / all;
    const double taken = static_cast<double>(starts[token + 1] - starts[token]);
    sum -= 16.0 * std::pow(std::log((taken + 0.5) / (expected + 0.5)), 2.0);
  }
  return sum;
}

// The best value of any starts, found by trying all of them.
double most_worth(const TokenMatrix& matrix, const std::vector<float>& lengths, Starts starts) {
  if (starts.size() == matrix.tokens) {
    starts.push_back(matrix.positions);
    return worth(matrix, lengths, starts);
  }
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t at = starts.back(); at <= matrix.positions; ++at) {
    Starts more = starts;
    more.push_back(at);
    best = std::max(best, most_worth(matrix, lengths, more));
  }
  return best;
}

}  // namespace

TEST_CASE("durations: tokens are at their positions of attention and have about their expected lengths") {
  const std::array<float, 2> even{1, 1}, uneven{3, 1};
  CHECK(token_starts(matrix_of({{0, 0, 0, -9, -9, -9}, {-9, -9, -9, 0, 0, 0}}), even) == Starts{0, 3, 6});
  CHECK(token_starts(matrix_of({{0, 0, -99, -99}, {-99, -99, 0, 0}}), uneven) == Starts{0, 2, 4});
  // Only the lengths decide; dynamic time warping would put the border anywhere.
  CHECK(token_starts(TokenMatrix(2, 8), uneven) == Starts{0, 6, 8});
}

TEST_CASE("durations: any number of tokens and positions has a result") {
  CHECK(token_starts(TokenMatrix(1, 1), std::array{1.0f}) == Starts{0, 1});
  CHECK(token_starts(TokenMatrix(1, 1500), std::array{1.0f}) == Starts{0, 1500});
  const Starts few = token_starts(TokenMatrix(4, 1), std::array{1.0f, 9.0f, 1.0f, 1.0f});
  CHECK(few == Starts{0, 0, 1, 1, 1});
  const Starts many = token_starts(TokenMatrix(448, 6), std::vector<float>(448, 3.0f));
  REQUIRE(many.size() == 449);
  CHECK(std::ranges::is_sorted(many));
  CHECK(many.back() == 6);
  // A short token that fills half a minute beside a long one.
  TokenMatrix odd(2, 1500);
  std::ranges::fill(odd.row(1), -9.0f);
  const Starts stretched = token_starts(odd, std::array{1.0f, 20.0f});
  CHECK(std::ranges::is_sorted(stretched));
  CHECK(stretched[1] > 1500 / 21);
  // A broken model has NaNs.
  TokenMatrix nothing(3, 4);
  std::ranges::fill(nothing.values, std::numeric_limits<float>::quiet_NaN());
  CHECK(std::ranges::is_sorted(token_starts(nothing, std::vector<float>(3, 1.0f))));
}

TEST_CASE("durations: the best path is found") {
  std::mt19937 random(test::seed());
  std::normal_distribution<float> value(0.0f, 3.0f);
  for (int round = 0; round < 200; ++round) {
    TokenMatrix matrix(1 + random() % 4, 1 + random() % 6);
    for (float& x : matrix.values) x = value(random);
    std::vector<float> lengths(matrix.tokens);
    for (float& length : lengths) length = static_cast<float>(1 + random() % 9);
    const Starts starts = token_starts(matrix, lengths);
    CAPTURE(round);
    CHECK(worth(matrix, lengths, starts) == doctest::Approx(most_worth(matrix, lengths, {0})));
  }
}

}  // namespace verbatim::alignment
