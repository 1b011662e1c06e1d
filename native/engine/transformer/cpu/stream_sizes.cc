#include "transformer/cpu/stream_sizes.h"

#include <algorithm>
#include <cmath>

namespace verbatim::transformer {
namespace {

constexpr double kRatio = 4.0;

}  // namespace

void StreamSizes::add(const Linear& writer) {
  std::vector<float> row(writer.weight.columns);
  for (std::size_t i = 0; i < squares_.size(); ++i) {
    writer.weight.read_row(i, row);
    for (const float value : row) squares_[i] += static_cast<double>(value) * value;
    if (!writer.bias.empty()) squares_[i] += static_cast<double>(writer.bias[i]) * writer.bias[i];
  }
}

void StreamSizes::add(std::span<const float> table) {
  const double share = static_cast<double>(squares_.size()) / static_cast<double>(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    squares_[i % squares_.size()] += share * static_cast<double>(table[i]) * table[i];
  }
}

std::vector<float> StreamSizes::outliers() const {
  std::vector<double> sorted = squares_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<float> sizes(squares_.size(), 1.0f);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (squares_[i] > kRatio * kRatio * *middle && *middle > 0.0) {
      sizes[i] = static_cast<float>(std::sqrt(squares_[i] / *middle));
    }
  }
  return sizes;
}

}  // namespace verbatim::transformer
