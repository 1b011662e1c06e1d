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

// The rows of `source` with each column multiplied by its factor. Both must outlive the view.
MatrixView with_columns(const MatrixView& source, const std::vector<float>& factors) {
  MatrixView view;
  view.rows = source.rows;
  view.columns = source.columns;
  view.reader = [&source, &factors](std::size_t row, std::span<float> out) {
    source.read_row(row, out);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] *= factors[k];
  };
  return view;
}

// The bias and what the norm's own bias adds to it.
std::vector<float> folded_bias(const Linear& linear, const std::vector<float>& beta) {
  std::vector<float> bias = linear.bias;
  bias.resize(linear.weight.rows, 0.0f);
  std::vector<float> row(linear.weight.columns);
  for (std::size_t i = 0; i < bias.size(); ++i) {
    linear.weight.read_row(i, row);
    double sum = 0.0;
    for (std::size_t k = 0; k < row.size(); ++k) sum += static_cast<double>(row[k]) * beta[k];
    bias[i] += static_cast<float>(sum);
  }
  return bias;
}

}  // namespace

PackedLinear pack_linear(const Linear& linear, ComputeType type, WeightMemory& memory) {
  PackedLinear packed{PackedMatrix(linear.weight, type, memory), linear.bias};
  packed.bias.resize(linear.weight.rows, 0.0f);
  return packed;
}

BalancedLinears pack_behind_norm(const LayerNorm& norm, std::span<const Linear* const> linears, ComputeType type,
                                 WeightMemory& memory, std::span<const float> sizes) {
  BalancedLinears packed;
  const std::size_t columns = norm.gamma.size();
  std::vector<float> factors(columns, 1.0f);
  packed.gain = norm.gamma;
  if (type == ComputeType::kInt8) {
    const std::vector<float> peaks = column_peaks(linears, columns);
    for (std::size_t k = 0; k < columns; ++k) {
      packed.gain[k] = std::sqrt(std::abs(norm.gamma[k]) * peaks[k] / (sizes.empty() ? 1.0f : sizes[k]));
      // A column that weighs nothing.
      factors[k] = packed.gain[k] > 0.0f ? norm.gamma[k] / packed.gain[k] : 0.0f;
    }
  }
  for (const Linear* linear : linears) {
    packed.linears.push_back(
        {PackedMatrix(with_columns(linear->weight, factors), type, memory), folded_bias(*linear, norm.beta)});
  }
  return packed;
}

}  // namespace verbatim::transformer
