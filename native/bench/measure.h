#pragma once

#include <chrono>
#include <ctime>
#include <vector>

namespace verbatim::bench {

// Milliseconds of one call: wall-clock time, and processor time of the whole process on all cores. Other work on the
// machine lengthens the former and hardly the latter.
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

// The middle value, or the mean of the two middle ones. `values` must not be empty, here and below.
double median(std::vector<double> values);
// By nearest rank; share in (0, 1].
double percentile(std::vector<double> values, double share);
double least(const std::vector<double>& values);
double most(const std::vector<double>& values);

}  // namespace verbatim::bench
