#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// Where each token begins when a text is aligned to its audio. Every token has a stretch of positions. One stretch
// begins where the one before it ends, and together they cover all positions.
//
// The chosen stretches have the largest sum of likeness minus length penalties. A token with n times its expected
// length, or 1/n of it, costs weight * log(n)^2. The penalty is needed because attention alone shows the middle of a
// token, not its end (Levinson, "Continuously variable duration hidden Markov models", 1986). The search is Viterbi's.
//
// lengths: [tokens], above 0, the relative length of each token. Returns [tokens + 1], not decreasing, from 0 to the
// number of positions; where there are more tokens than positions, some have length 0. The matrix has one token and one
// position or more. Time: tokens * positions * (longest allowed length: 80 positions, or three times the expected
// length).
std::vector<std::size_t> token_starts(const TokenMatrix& likeness, std::span<const float> lengths);

}  // namespace verbatim::alignment
