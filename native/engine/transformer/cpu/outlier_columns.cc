#include "transformer/cpu/outlier_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "transformer/cpu/row_product.h"

namespace verbatim::transformer {
namespace {

// How much larger or smaller than the median an outlier is.
constexpr float kRatio = 8.0f;
constexpr std::size_t kShare = 32;

float median(std::span<const float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<std::uint32_t> largest_columns(std::span<const float> sizes) {
  std::vector<std::uint32_t> columns;
  const float least = kRatio * median(sizes);
  for (std::uint32_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] > least) columns.push_back(k);
  }
  std::ranges::stable_sort(columns, [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
  columns.resize(std::min(columns.size(), sizes.size() / kShare));
  return columns;
}

// The number of columns, then the columns.
std::size_t index_bytes(const MatrixView& weight) {
  return WeightMemory::aligned((1 + weight.columns / kShare) * sizeof(std::uint32_t));
}

MatrixView most_columns(const MatrixView& weight) {
  MatrixView chosen;
  chosen.rows = weight.rows;
  chosen.columns = weight.columns / kShare;
  return chosen;
}

}  // namespace

std::size_t OutlierColumns::memory_bytes(const MatrixView& weight) noexcept {
  return index_bytes(weight) + PackedMatrix::bytes(most_columns(weight), ComputeType::kFloat32);
}

OutlierColumns::OutlierColumns(const MatrixView& weight, WeightMemory& memory,
                               const std::function<std::vector<float>()>& sizes) {
  const std::span<const std::byte> index = memory.take(index_bytes(weight), [&](std::span<std::byte> out) {
    const std::vector<std::uint32_t> columns = largest_columns(sizes());
    const auto count = static_cast<std::uint32_t>(columns.size());
    std::memcpy(out.data(), &count, sizeof(count));
    if (count > 0) std::memcpy(out.data() + sizeof(count), columns.data(), count * sizeof(count));
  });
  const auto* const numbers = reinterpret_cast<const std::uint32_t*>(index.data());
  columns_ = {numbers + 1, numbers[0]};
  MatrixView chosen = most_columns(weight);
  const std::size_t room = PackedMatrix::bytes(chosen, ComputeType::kFloat32);
  chosen.columns = columns_.size();
  chosen.reader = [this, &weight, row = std::vector<float>(weight.columns)](std::size_t i,
                                                                            std::span<float> out) mutable {
    weight.read_row(i, row);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = row[columns_[j]];
  };
  if (!empty()) weight_ = PackedMatrix(chosen, ComputeType::kFloat32, memory);
  // What stays free.
  memory.take(room - PackedMatrix::bytes(chosen, ComputeType::kFloat32), [](std::span<std::byte>) {});
}

MatrixView OutlierColumns::rest(const MatrixView& weight) const {
  MatrixView view;
  view.rows = weight.rows;
  view.columns = weight.columns;
  view.reader = [this, &weight](std::size_t row, std::span<float> out) {
    weight.read_row(row, out);
    for (const std::uint32_t k : columns_) out[k] = 0.0f;
  };
  return view;
}

void OutlierColumns::take(float* rows, std::size_t count, std::size_t ld, std::vector<float>& taken) const {
  taken.resize(std::max(taken.size(), count * columns_.size()));
  float* to = taken.data();
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint32_t k : columns_) {
      *to++ = rows[i * ld + k];
      rows[i * ld + k] = 0.0f;
    }
  }
}

void OutlierColumns::add_product(const Kernels& kernels, const std::vector<float>& taken, std::size_t count, float* y,
                                 std::size_t ld) const {
  multiply(kernels, {.weight = weight_,
                     .rows = count,
                     .operands = reinterpret_cast<const std::byte*>(taken.data()),
                     .epilogue = {.residual = y},
                     .y = y,
                     .ld = ld});
}

std::vector<float> expected_sizes(const LayerNorm& norm, const Linear& linear) {
  std::vector<float> sizes(linear.weight.rows);
  std::vector<float> row(linear.weight.columns);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    linear.weight.read_row(i, row);
    float squares = 0.0f;
    float mean = linear.bias.empty() ? 0.0f : linear.bias[i];
    for (std::size_t k = 0; k < row.size(); ++k) {
      squares += row[k] * norm.gamma[k] * row[k] * norm.gamma[k];
      mean += row[k] * norm.beta[k];
    }
    mean = std::max(mean, 0.0f);
    sizes[i] = std::sqrt(squares + mean * mean);
  }
  return sizes;
}

std::vector<float> small_column_factors(const MatrixView& weight) {
  // Relative to the row's largest value, which sets the scale.
  std::vector<float> peaks(weight.columns, 0.0f);
  std::vector<float> row(weight.columns);
  for (std::size_t i = 0; i < weight.rows; ++i) {
    weight.read_row(i, row);
    const float largest = std::transform_reduce(
        row.begin(), row.end(), 0.0f, [](float a, float b) { return std::max(a, b); },
        [](float x) { return std::abs(x); });
    if (largest == 0.0f) continue;
    for (std::size_t k = 0; k < row.size(); ++k) peaks[k] = std::max(peaks[k], std::abs(row[k]) / largest);
  }
  const float middle = median(peaks);
  std::vector<float> factors(weight.columns, 1.0f);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (peaks[k] > 0.0f && peaks[k] * kRatio < middle) factors[k] = middle / peaks[k];
  }
  return factors;
}

}  // namespace verbatim::transformer
