#pragma once

#include <cstddef>

#include "transformer/cpu/packed_matrix.h"
#include "transformer/kernels/kernels.h"

// Products of rows with a packed matrix. Rows are converted to operands first: int8 as quantize_row() writes them for a
// matrix in int8, float32 for the other types.
namespace verbatim::transformer {

constexpr std::size_t operand_row_bytes(ComputeType type, std::size_t depth) {
  return type == ComputeType::kInt8 ? quantized_row_bytes(depth) : depth * sizeof(float);
}

// out: operand_row_bytes(), aligned as float.
void write_operands(const Kernels& kernels, ComputeType type, const float* row, std::size_t depth, std::byte* out);

// What rounding to operands of int8 took from a row: out[depth] = row - what the operands stand for.
void rounding_error(const float* row, std::size_t depth, const std::byte* operands, float* out);

// y[rows][ld] = epilogue(operands * weight^T).
struct RowProduct {
  const PackedMatrix& weight;
  std::size_t rows = 0;
  // [rows][operand_row_bytes()]
  const std::byte* operands = nullptr;
  Epilogue epilogue;
  // [rows][ld], from the first panel's outputs on; ld also holds for the epilogue's gate and residual, which begin
  // there too. The epilogue's bias is that of all outputs.
  float* y = nullptr;
  std::size_t ld = 0;
  // Panels of the weight that are computed. 0: to the last.
  std::size_t first_panel = 0;
  std::size_t last_panel = 0;
};

void multiply(const Kernels& kernels, const RowProduct& product);

}  // namespace verbatim::transformer
