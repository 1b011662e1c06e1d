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

}  // namespace

std::size_t packed_linear_bytes(const MatrixView& weight, ComputeType type) noexcept {
  return PackedMatrix::bytes(weight, type) + WeightMemory::float_bytes(weight.rows);
}

PackedLinear pack_linear(const Linear& linear, ComputeType type, WeightMemory& memory) {
  const PackedMatrix weight(linear.weight, type, memory);
  const std::span<const float> bias = memory.take_floats(
      linear.weight.rows, [&](std::span<float> out) { std::ranges::copy(linear.bias, out.begin()); });
  return {weight, bias};
}

BalancedLinears pack_behind_norm(const LayerNorm& norm, std::span<const Linear* const> linears, ComputeType type,
                                 WeightMemory& memory, std::span<const float> sizes) {
  BalancedLinears packed;
  const bool is_balanced = type == ComputeType::kInt8;
  packed.gain = memory.take_floats(norm.gamma.size(), [&](std::span<float> out) {
    std::ranges::copy(is_balanced ? balanced_gain(norm.gamma, linears, sizes) : norm.gamma, out.begin());
  });
  const std::vector<float> factors =
      is_balanced ? column_factors(norm.gamma, packed.gain) : std::vector<float>(norm.gamma.size(), 1.0f);
  for (const Linear* linear : linears) {
    const PackedMatrix weight(with_columns(linear->weight, factors), type, memory);
    const std::span<const float> bias = memory.take_floats(linear->weight.rows, [&](std::span<float> out) {
      std::ranges::copy(folded_bias(*linear, norm.beta), out.begin());
    });
    packed.linears.push_back({weight, bias});
  }
  return packed;
}

}  // namespace verbatim::transformer
