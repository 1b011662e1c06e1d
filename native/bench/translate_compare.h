#pragma once

#include <string>

#include "translate_workload.h"

namespace verbatim::translation {

// The ggml backend against the CTranslate2 library in turns (A B A B ...) on the same sentences, each
// with its own copy of the model; prints one JSON line a cell. Throws EngineError when the library was not
// built in.
void compare_backends(const std::string& directory, const BenchSettings& settings);

}  // namespace verbatim::translation
