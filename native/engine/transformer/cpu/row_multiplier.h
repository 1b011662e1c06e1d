#pragma once

#include <cstddef>
#include <memory>

#include "transformer/cpu/linear_weight.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// y[rows][outputs] = epilogue(operands * weight^T).
struct LinearProduct {
  const LinearWeight& weight;
  std::size_t rows = 0;
  // [rows][RowMultiplier::row_bytes()]
  const std::byte* operands = nullptr;
  // Without a gate. `residual` has no padding between rows.
  Epilogue epilogue;
  float* y = nullptr;
};

// Multiplies rows with weights of one format, on the calling thread. Rows are converted to operands first. Holds
// working memory for one product at a time. Throws std::bad_alloc, and std::exception for errors of the accelerator.
class RowMultiplier {
 public:
  virtual ~RowMultiplier() = default;

  // Rows for which a product is fastest: weights are read once for so many, and what they become stays in the cache.
  virtual std::size_t block_rows() const noexcept = 0;
  // Bytes of a row's operands.
  virtual std::size_t row_bytes(std::size_t depth) const noexcept = 0;
  // out: row_bytes(), aligned as float.
  virtual void write_operands(const float* row, std::size_t depth, std::byte* out) const = 0;
  virtual void multiply(const LinearProduct& product) = 0;
  // Writes y as operands: out[rows][row_bytes(outputs)]. `y` is scratch of the same size as the product, which some
  // formats do not write.
  virtual void multiply_to_operands(const LinearProduct& product, std::byte* out) = 0;
  // What the conversion to operands took from a row is multiplied, too, and added to y, where the format rounds rows to
  // int8. Other formats do nothing.
  virtual void add_rounding_error(const LinearProduct& product, const float* rows) = 0;
  // Bytes of working memory so far.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// kernels: must outlive the result; for what a format computes with them.
std::unique_ptr<RowMultiplier> make_row_multiplier(const ProductFormat& format, const Kernels& kernels);

}  // namespace verbatim::transformer
