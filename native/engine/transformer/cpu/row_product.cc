#include "transformer/cpu/row_product.h"

#include <cstdint>
#include <cstring>

namespace verbatim::transformer {

void write_operands(const Kernels& kernels, ComputeType type, const float* row, std::size_t depth, std::byte* out) {
  if (type == ComputeType::kInt8) {
    kernels.quantize_row(row, depth, true, reinterpret_cast<std::int8_t*>(out));
  } else {
    std::memcpy(out, row, depth * sizeof(float));
  }
}

void rounding_error(const float* row, std::size_t depth, const std::byte* operands, float* out) {
  const auto* const values = reinterpret_cast<const std::int8_t*>(operands);
  float factor;
  std::memcpy(&factor, operands + quantized_depth(depth), sizeof(factor));
  for (std::size_t k = 0; k < depth; ++k) out[k] = row[k] - factor * static_cast<float>(values[k]);
}

void multiply(const Kernels& kernels, const RowProduct& product) {
  GemmCall call;
  product.weight.prepare(call);
  call.x = product.operands;
  call.rows = product.rows;
  call.first_panel = product.first_panel;
  call.last_panel = product.last_panel == 0 ? product.weight.panels() : product.last_panel;
  call.y = product.y;
  call.ld = product.ld;
  call.epilogue = product.epilogue;
  switch (product.weight.type()) {
    case ComputeType::kInt8:
      return kernels.gemm_int8(call);
    case ComputeType::kBfloat16:
      return kernels.gemm_bfloat16(call);
    default:
      return kernels.gemm_float32(call);
  }
}

}  // namespace verbatim::transformer
