#pragma once

#include <string>
#include <vector>

namespace verbatim::bench {

// What the program make_model does: writes a model of random weights. `words`: SHAPE FILE [WEIGHTS] [SEED]
// [TOKENS]. Throws std::invalid_argument, which says what is allowed, std::ios_base::failure.
void make_model(const std::vector<std::string>& words);

}  // namespace verbatim::bench
