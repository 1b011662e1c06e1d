#include "transformer/cpu/balanced_linears.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace verbatim::transformer {
namespace {

// Raises each column's peak to its largest weight.
void add_peaks(const MatrixView& weight, std::vector<float>& peaks) {
  std::vector<float> row(weight.columns);
  for (std::size_t i = 0; i < weight.rows; ++i) {
    weight.read_row(i, row);
    for (std::size_t k = 0; k < row.size(); ++k) peaks[k] = std::max(peaks[k], std::abs(row[k]));
  }
}

// Packs a layer with each column multiplied by its factor, and with what the norm's own bias adds to the layer's. The
// weights are read once.
PackedLinear pack_scaled(const Linear& linear, const std::vector<float>& factors, const std::vector<float>& beta,
                         const ProductFormat& format, WeightMemory& memory) {
  MatrixView view;
  view.rows = linear.weight.rows;
  view.columns = linear.weight.columns;
  std::vector<float> values(view.rows * view.columns);
  std::vector<float> bias = linear.bias;
  bias.resize(view.rows, 0.0f);
  for (std::size_t i = 0; i < view.rows; ++i) {
    const std::span<float> row = std::span(values).subspan(i * view.columns, view.columns);
    linear.weight.read_row(i, row);
    double sum = 0.0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      sum += static_cast<double>(row[k]) * beta[k];
      row[k] *= factors[k];
    }
    bias[i] += static_cast<float>(sum);
  }
  view.data = std::as_bytes(std::span(values));
  return {LinearWeight(view, format, memory), std::move(bias)};
}

}  // namespace

PackedLinear pack_linear(const Linear& linear, const ProductFormat& format, WeightMemory& memory) {
  PackedLinear packed{LinearWeight(linear.weight, format, memory), linear.bias};
  packed.bias.resize(linear.weight.rows, 0.0f);
  return packed;
}

BalancedLinears pack_behind_norm(const LayerNorm& norm, std::span<const Linear* const> linears,
                                 const ProductFormat& format, WeightMemory& memory, std::span<const float> sizes) {
  BalancedLinears packed;
  const std::size_t columns = norm.gamma.size();
  std::vector<float> factors(columns, 1.0f);
  packed.gain = norm.gamma;
  if (format.type == ComputeType::kInt8) {
    std::vector<float> peaks(columns, 0.0f);
    for (const Linear* linear : linears) add_peaks(linear->weight, peaks);
    for (std::size_t k = 0; k < columns; ++k) {
      packed.gain[k] = std::sqrt(std::abs(norm.gamma[k]) * peaks[k] / (sizes.empty() ? 1.0f : sizes[k]));
      // A column that weighs nothing.
      factors[k] = packed.gain[k] > 0.0f ? norm.gamma[k] / packed.gain[k] : 0.0f;
    }
  }
  for (const Linear* linear : linears) {
    packed.linears.push_back(pack_scaled(*linear, factors, norm.beta, format, memory));
  }
  return packed;
}

}  // namespace verbatim::transformer
