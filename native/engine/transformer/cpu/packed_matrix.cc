#include "transformer/cpu/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "transformer/half.h"
#include "transformer/quantize_weights.h"

namespace verbatim::transformer {
namespace {

std::size_t element_size(ComputeType type) {
  if (type == ComputeType::kInt8) return 1;
  return type == ComputeType::kFloat32 ? 4 : 2;
}

std::size_t padded_outputs(std::size_t outputs) {
  return (outputs + kPanelOutputs - 1) / kPanelOutputs * kPanelOutputs;
}

std::size_t padded_depth(std::size_t depth, ComputeType type) {
  return type == ComputeType::kInt8 ? quantized_depth(depth) : depth;
}

// Offset of weight [row, 0], and the distance to the weights after it; for floats counted in elements.
std::size_t panel_start(std::size_t row, std::size_t depth) { return row / kPanelOutputs * depth * kPanelOutputs; }

std::size_t int8_place(std::size_t row, std::size_t k, std::size_t depth) {
  return panel_start(row, depth) + (k / 4 * kPanelOutputs + row % kPanelOutputs) * 4 + k % 4;
}

float identity(float value) { return value; }

std::size_t data_bytes(const MatrixView& source, ComputeType type) {
  return padded_outputs(source.rows) * padded_depth(source.columns, type) * element_size(type);
}

template <typename T, typename Convert>
void pack_floats(const MatrixView& source, std::span<std::byte> packed, Convert convert) {
  const std::size_t depth = source.columns;
  std::vector<float> row(depth);
  T* data = reinterpret_cast<T*>(packed.data());
  for (std::size_t i = 0; i < source.rows; ++i) {
    source.read_row(i, row);
    T* out = data + panel_start(i, depth) + i % kPanelOutputs;
    for (std::size_t k = 0; k < depth; ++k) out[k * kPanelOutputs] = convert(row[k]);
  }
}

// Returns 1 / scale of each output, padded.
std::vector<float> pack_int8(const MatrixView& source, std::span<std::byte> packed) {
  const std::size_t depth = quantized_depth(source.columns);
  auto* data = reinterpret_cast<std::uint8_t*>(packed.data());
  std::memset(data, 128, packed.size());
  std::vector<float> factors(padded_outputs(source.rows), 0.0f);
  std::vector<float> row(source.columns);
  std::vector<std::int8_t> values(source.columns);
  for (std::size_t i = 0; i < source.rows; ++i) {
    float scale;
    if (source.holds(ElementType::kInt8)) {
      scale = source.row_scale(i);
      source.read_row_int8(i, values);
    } else {
      source.read_row(i, row);
      scale = quantize_weights(row, values);
    }
    factors[i] = 1.0f / scale;
    // No converter writes -128, and the AVX2 kernel cannot negate it.
    for (std::size_t k = 0; k < values.size(); ++k) {
      data[int8_place(i, k, depth)] = static_cast<std::uint8_t>(std::max<int>(values[k], -127) + 128);
    }
  }
  return factors;
}

}  // namespace

std::size_t PackedMatrix::bytes(const MatrixView& source, ComputeType type) noexcept {
  const std::size_t factors = type == ComputeType::kInt8 ? padded_outputs(source.rows) : 0;
  return WeightMemory::aligned(data_bytes(source, type)) + WeightMemory::float_bytes(factors);
}

PackedMatrix::PackedMatrix(const MatrixView& source, ComputeType type, WeightMemory& memory)
    : type_(type), outputs_(source.rows), depth_(source.columns) {
  std::vector<float> factors;
  data_ = memory.take(data_bytes(source, type), [&](std::span<std::byte> data) {
    if (type == ComputeType::kFloat32) pack_floats<float>(source, data, identity);
    if (type == ComputeType::kBfloat16) pack_floats<std::uint16_t>(source, data, float_to_bfloat16);
    if (type == ComputeType::kInt8) factors = pack_int8(source, data);
  });
  if (type != ComputeType::kInt8) return;
  factors_ = memory.take_floats(padded_outputs(outputs_),
                                [&](std::span<float> out) { std::ranges::copy(factors, out.begin()); });
}

void PackedMatrix::prepare(GemmCall& call) const noexcept {
  call.weights = data_.data();
  call.weight_factors = factors_.data();
  call.outputs = outputs_;
  call.depth = depth_;
}

}  // namespace verbatim::transformer
