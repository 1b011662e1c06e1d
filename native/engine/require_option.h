#pragma once

#include <string>

#include "error.h"

namespace verbatim {

// Throws EngineError kInvalidArgument with the option's name, its value and what is allowed, unless `holds`.
template <typename T>
void require_option(bool holds, const char* name, T value, const char* allowed) {
  if (holds) return;
  throw EngineError(ErrorCode::kInvalidArgument,
                    std::string(name) + " is " + std::to_string(value) + "; " + allowed + " is allowed");
}

}  // namespace verbatim
