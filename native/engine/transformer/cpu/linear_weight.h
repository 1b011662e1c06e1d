#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "accelerator/matrices.h"
#include "transformer/compute_type.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/matrix_view.h"

namespace verbatim::transformer {

// How the products of a model are computed.
struct ProductFormat {
  // kInt8 or kFloat32 on this engine's kernels; the store's type on the accelerator.
  ComputeType type = ComputeType::kFloat32;
  // Null: this engine's kernels.
  std::shared_ptr<accelerator::WeightStore> accelerator;
};

// The format of products on the accelerator. store: not null.
ProductFormat accelerated_format(std::shared_ptr<accelerator::WeightStore> store);

// The format for a mode that is not kOff and a type, "int8", "bfloat16", "float32" or "auto". kAuto: int8 on the
// kernels; else on the accelerator, in float32 if it is asked for, otherwise in its fastest type. kFloat32: in float32.
// Without an accelerator float32 on the kernels.
ProductFormat choose_format(AcceleratorMode mode, std::string_view compute);

// "int8 kernels (avx512)" or "onednn bfloat16".
std::string format_name(const ProductFormat& format);

// A weight matrix [outputs, depth], packed for the kernels or for the accelerator. Immutable.
class LinearWeight {
 public:
  LinearWeight() = default;
  // Throws std::bad_alloc, and std::exception for errors of the accelerator.
  LinearWeight(const MatrixView& source, const ProductFormat& format, WeightMemory& memory);

  // Bytes of WeightMemory that a matrix takes.
  static std::size_t memory_bytes(const MatrixView& source, const ProductFormat& format) noexcept;

  std::size_t outputs() const noexcept;
  std::size_t depth() const noexcept;
  // Bytes outside of the WeightMemory.
  std::size_t own_bytes() const noexcept;
  // Null if it is packed for the accelerator.
  const PackedMatrix* for_kernels() const noexcept { return std::get_if<PackedMatrix>(&packed_); }
  // Null if it is packed for the kernels.
  const accelerator::PackedWeight* for_accelerator() const noexcept {
    return std::get_if<accelerator::PackedWeight>(&packed_);
  }

 private:
  std::variant<PackedMatrix, accelerator::PackedWeight> packed_;
};

}  // namespace verbatim::transformer
