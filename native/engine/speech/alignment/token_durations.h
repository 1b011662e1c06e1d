#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// Where each token begins when a text is laid along its sound: every token has a stretch of positions, one
// stretch begins where the one before it ends, and together they are all positions. Of all such ways the one
// is taken in which the positions are most like their tokens, in sum, and the stretches as long as was to be
// expected: a token that has n times the expected length, or an nth of it, loses weight * log(n)^2. Attention
// alone says where the middle of a token is, not where it ends (Levinson, "Continuously variable duration
// hidden Markov models", 1986; found as Viterbi finds the best path).
//
// lengths: [tokens], above 0, how long each token is beside the others. Returns [tokens + 1], not decreasing,
// from 0 to the number of positions; where there are more tokens than positions some have none. The matrix
// has a token and a position or more. Its work is tokens * positions * (the longest length allowed: 80, or
// three times what is expected).
std::vector<std::size_t> token_starts(const TokenMatrix& likeness, std::span<const float> lengths);

}  // namespace verbatim::alignment
