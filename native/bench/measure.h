#pragma once

#include <chrono>
#include <ctime>
#include <vector>

namespace verbatim::bench {

// What one call took, in milliseconds: by the clock, and of all cores, by the whole process. Other work on
// the machine lengthens the first and hardly the second.
struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;
};

template <typename Task>
Cost cost_of(const Task& task) {
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  task();
  return {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall).count(),
          1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

// Middle value, or the mean of the two middle ones. Values must not be empty; so below.
double median(std::vector<double> values);
// Nearest rank, share in (0, 1].
double percentile(std::vector<double> values, double share);
double least(const std::vector<double>& values);
double most(const std::vector<double>& values);

}  // namespace verbatim::bench
