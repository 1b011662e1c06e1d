#pragma once

#include <chrono>

namespace verbatim {

// Wall-clock time that has gone by, in milliseconds.
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace verbatim
