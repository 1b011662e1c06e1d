#include "speech/alignment/time_warping.h"

#include <doctest/doctest.h>

#include <algorithm>
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

// The best sum over all paths to a place, by looking at every path, and where that path's tokens begin.
struct Best {
  double sum = -std::numeric_limits<double>::infinity();
  Starts starts;
};

void follow(const TokenMatrix& matrix, std::size_t token, std::size_t position, double sum, Starts starts,
            Best& best) {
  if (starts.size() == token) starts.push_back(position);
  sum += static_cast<double>(matrix.row(token)[position]);
  const bool last_token = token + 1 == matrix.tokens, last_position = position + 1 == matrix.positions;
  if (last_token && last_position && sum > best.sum) best = {sum, starts};
  if (!last_token) follow(matrix, token + 1, position, sum, starts, best);
  if (!last_position) follow(matrix, token, position + 1, sum, starts, best);
  if (!last_token && !last_position) follow(matrix, token + 1, position + 1, sum, starts, best);
}

}  // namespace

TEST_CASE("time warping: tokens begin where the path comes to them") {
  CHECK(token_starts(matrix_of({{1, 1, -1, -1, -1, -1}, {-1, -1, 1, 1, 1, -1}, {-1, -1, -1, -1, -1, 1}})) ==
        Starts{0, 2, 5});
  // What a token looks like elsewhere does not help it: the order of the text holds.
  CHECK(token_starts(matrix_of({{0, 0, 0, 9}, {1, 1, 1, 1}})) == Starts{0, 3});
  CHECK(token_starts(matrix_of({{-1, -1, -1}, {-1, 5, -1}, {-1, -1, -1}})) == Starts{0, 1, 2});
}

TEST_CASE("time warping: any number of tokens and positions has an answer") {
  CHECK(token_starts(TokenMatrix(1, 1)) == Starts{0});
  CHECK(token_starts(TokenMatrix(1, 5)) == Starts{0});
  CHECK(token_starts(TokenMatrix(4, 1)) == Starts{0, 0, 0, 0});
  const Starts many = token_starts(TokenMatrix(448, 6));
  REQUIRE(many.size() == 448);
  CHECK(std::ranges::is_sorted(many));
  CHECK(many.back() <= 5);
  // Of a broken model.
  TokenMatrix nothing(3, 4);
  std::ranges::fill(nothing.values, std::numeric_limits<float>::quiet_NaN());
  CHECK(std::ranges::is_sorted(token_starts(nothing)));
}

TEST_CASE("time warping finds the best of all paths") {
  std::mt19937 random(3);
  std::normal_distribution<float> value;
  for (int round = 0; round < 200; ++round) {
    TokenMatrix matrix(1 + random() % 4, 1 + random() % 5);
    for (float& x : matrix.values) x = value(random);
    Best best;
    follow(matrix, 0, 0, 0.0, {}, best);
    CAPTURE(round);
    CHECK(token_starts(matrix) == best.starts);
  }
}

}  // namespace verbatim::alignment
