#pragma once

#include <string>
#include <vector>

namespace verbatim::bench {

// Implements the program make_model: writes a model with random weights. `words`: SHAPE FILE [WEIGHTS] [SEED] [TOKENS]
// [--outliers] [--sharp-heads].
// Throws std::invalid_argument and EngineError with what is allowed, std::ios_base::failure.
void make_model(const std::vector<std::string>& words);

}  // namespace verbatim::bench
