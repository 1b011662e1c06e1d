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

namespace {

// Makes panel `count` the first one of the call.
void skip_panels(GemmCall& call, std::size_t count, ComputeType type) {
  const std::size_t outputs = count * kPanelOutputs;
  const std::size_t row_bytes = type == ComputeType::kInt8       ? quantized_depth(call.depth)
                                : type == ComputeType::kBfloat16 ? call.depth * sizeof(std::uint16_t)
                                                                 : call.depth * sizeof(float);
  call.weights = static_cast<const std::byte*>(call.weights) + outputs * row_bytes;
  if (type == ComputeType::kInt8) call.weight_factors += outputs;
  if (call.epilogue.bias != nullptr) call.epilogue.bias += outputs;
  call.outputs -= outputs;
  call.last_panel -= count;
}

}  // namespace

void multiply(const Kernels& kernels, const RowProduct& product) {
  GemmCall call;
  product.weight.prepare(call);
  call.x = product.operands;
  call.rows = product.rows;
  call.last_panel = product.last_panel == 0 ? product.weight.panels() : product.last_panel;
  call.y = product.y;
  call.ld = product.ld;
  call.epilogue = product.epilogue;
  if (product.first_panel > 0) skip_panels(call, product.first_panel, product.weight.type());
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
