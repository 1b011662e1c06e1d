#pragma once

#include <chrono>

namespace verbatim {

// Elapsed wall-clock time, in milliseconds.
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace verbatim
