#include "transformer/cpu/balanced_linears.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace verbatim::transformer {
namespace {

// The largest weight of each column, in all layers.
std::vector<float> column_peaks(std::span<const Linear* const> linears, std::size_t columns) {
  std::vector<float> peaks(columns, 0.0f);
  std::vector<float> row(columns);
  for (const Linear* linear : linears) {
    for (std::size_t i = 0; i < linear->weight.rows; ++i) {
      linear->weight.read_row(i, row);
      for (std::size_t k = 0; k < columns; ++k) peaks[k] = std::max(peaks[k], std::abs(row[k]));
    }
  }
  return peaks;
}

// The gain of the input, and the factors of the weights' columns that go with it.
std::vector<float> balanced_gain(const std::vector<float>& gamma, std::span<const Linear* const> linears,
                                 std::span<const float> sizes) {
  std::vector<float> gain = column_peaks(linears, gamma.size());
  for (std::size_t k = 0; k < gain.size(); ++k) {
    gain[k] = std::sqrt(std::abs(gamma[k]) * gain[k] / (sizes.empty() ? 1.0f : sizes[k]));
  }
  return gain;
}

std::vector<float> column_factors(const std::vector<float>& gamma, std::span<const float> gain) {
  std::vector<float> factors(gain.size());
  // A gain of 0 is that of a column that weighs nothing.
  for (std::size_t k = 0; k < gain.size(); ++k) factors[k] = gain[k] > 0.0f ? gamma[k] / gain[k] : 0.0f;
  return factors;
}

// A layer's weights with each column multiplied by its factor, and its bias with what the norm's own bias adds to it.
struct ScaledLinear {
  std::vector<float> values, bias;
};

// Reads the weights once.
ScaledLinear scaled(const Linear& linear, const std::vector<float>& factors, const std::vector<float>& beta) {
  const std::size_t columns = linear.weight.columns;
  ScaledLinear out{std::vector<float>(linear.weight.rows * columns), linear.bias};
  out.bias.resize(linear.weight.rows, 0.0f);
  for (std::size_t i = 0; i < out.bias.size(); ++i) {
    const std::span<float> row = std::span(out.values).subspan(i * columns, columns);
    linear.weight.read_row(i, row);
    double sum = 0.0;
    for (std::size_t k = 0; k < columns; ++k) {
      sum += static_cast<double>(row[k]) * beta[k];
      row[k] *= factors[k];
    }
    out.bias[i] += static_cast<float>(sum);
  }
  return out;
}

PackedLinear pack_scaled(const Linear& linear, const std::vector<float>& factors, const std::vector<float>& beta,
                         const ProductFormat& format, WeightMemory& memory) {
  const ScaledLinear source = memory.is_filled() ? ScaledLinear{} : scaled(linear, factors, beta);
  MatrixView view;
  view.rows = linear.weight.rows;
  view.columns = linear.weight.columns;
  view.data = std::as_bytes(std::span(source.values));
  LinearWeight weight(view, format, memory);
  const std::span<const float> bias =
      memory.take_floats(view.rows, [&](std::span<float> out) { std::ranges::copy(source.bias, out.begin()); });
  return {std::move(weight), bias};
}

}  // namespace

std::size_t packed_linear_bytes(const MatrixView& weight, const ProductFormat& format) noexcept {
  return LinearWeight::memory_bytes(weight, format) + WeightMemory::float_bytes(weight.rows);
}

PackedLinear pack_linear(const Linear& linear, const ProductFormat& format, WeightMemory& memory) {
  LinearWeight weight(linear.weight, format, memory);
  const std::span<const float> bias = memory.take_floats(
      linear.weight.rows, [&](std::span<float> out) { std::ranges::copy(linear.bias, out.begin()); });
  return {std::move(weight), bias};
}

BalancedLinears pack_behind_norm(const LayerNorm& norm, std::span<const Linear* const> linears,
                                 const ProductFormat& format, WeightMemory& memory, std::span<const float> sizes) {
  BalancedLinears packed;
  const bool is_balanced = format.type == ComputeType::kInt8;
  packed.gain = memory.take_floats(norm.gamma.size(), [&](std::span<float> out) {
    std::ranges::copy(is_balanced ? balanced_gain(norm.gamma, linears, sizes) : norm.gamma, out.begin());
  });
  const std::vector<float> factors =
      is_balanced ? column_factors(norm.gamma, packed.gain) : std::vector<float>(norm.gamma.size(), 1.0f);
  for (const Linear* linear : linears) {
    packed.linears.push_back(pack_scaled(*linear, factors, norm.beta, format, memory));
  }
  return packed;
}

}  // namespace verbatim::transformer
