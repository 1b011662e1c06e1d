#pragma once

#include <cstddef>
#include <vector>

namespace verbatim::bench {

// |a - b|| / ||b|| of the whole window, and of the position where it is largest.
struct Distance {
  double overall = 0;
  double worst = 0;
};

// Compares two encoder outputs, [positions][width]. Throws std::runtime_error if they differ in size.
Distance distance(const std::vector<float>& a, const std::vector<float>& b, std::size_t width);

}  // namespace verbatim::bench
