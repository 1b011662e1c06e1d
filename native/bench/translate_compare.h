#pragma once

#include <string>

#include "translate_workload.h"

namespace verbatim::translation {

// Measures the ggml backend and the CTranslate2 library in turns (A B A B ...) on the same sentences, each with its own
// copy of the model. Prints one JSON line per cell. Throws EngineError if the library is not built in.
void compare_backends(const std::string& directory, const BenchSettings& settings);

}  // namespace verbatim::translation
