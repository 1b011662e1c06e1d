#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transformer/compute_type.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/kernels/kernels.h"
#include "transformer/matrix_view.h"

namespace verbatim::transformer {

// A weight matrix [outputs, depth] in the layout of the CPU kernels: panels of kPanelOutputs outputs. A panel is
// float[depth][kPanelOutputs], or for int8 uint8[depth / 4][kPanelOutputs][4] with 128 added. Missing outputs and depth
// are zeros.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Converts if the stored type differs. Floats are quantized as in CTranslate2 (scale 127 / max|row|, rounded to
  // nearest even); quantized values become value / scale.
  PackedMatrix(const MatrixView& source, ComputeType type, WeightMemory& memory);

  // Bytes of WeightMemory that a matrix takes.
  static std::size_t bytes(const MatrixView& source, ComputeType type) noexcept;

  ComputeType type() const noexcept { return type_; }
  std::size_t outputs() const noexcept { return outputs_; }
  std::size_t depth() const noexcept { return depth_; }
  std::size_t panels() const noexcept { return (outputs_ + kPanelOutputs - 1) / kPanelOutputs; }

  // Sets the weight fields of a call.
  void prepare(GemmCall& call) const noexcept;

 private:
  ComputeType type_ = ComputeType::kFloat32;
  std::size_t outputs_ = 0;
  std::size_t depth_ = 0;
  // Both in WeightMemory.
  std::span<const std::byte> data_;
  // int8: 1 / scale of each output, padded to whole panels.
  std::span<const float> factors_;
};

}  // namespace verbatim::transformer
