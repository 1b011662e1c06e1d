#pragma once

#include <cstddef>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// Where each token begins when the text is laid along the sound so that tokens and positions are as much
// alike as they can be in all: the position at which the best path through the matrix, from its first token
// at its first position to its last at its last, comes to each token. A step of the path goes on to the next
// token, the next position, or both (dynamic time warping: Sakoe and Chiba, "Dynamic programming algorithm
// optimization for spoken word recognition", 1978). [tokens], not decreasing; where there are more tokens
// than positions several begin at one. The matrix has a token and a position or more.
std::vector<std::size_t> token_starts(const TokenMatrix& likeness);

}  // namespace verbatim::alignment
