#include "distance.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace verbatim::bench {

Distance distance(const std::vector<float>& a, const std::vector<float>& b, std::size_t width) {
  if (a.size() != b.size()) throw std::runtime_error("outputs of different sizes");
  Distance result;
  double all_difference = 0;
  double all_norm = 0;
  for (std::size_t start = 0; start < a.size(); start += width) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = start; i < start + width; ++i) {
      difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
      norm += static_cast<double>(b[i]) * b[i];
    }
    result.worst = std::max(result.worst, std::sqrt(difference / norm));
    all_difference += difference;
    all_norm += norm;
  }
  result.overall = std::sqrt(all_difference / all_norm);
  return result;
}

}  // namespace verbatim::bench
