#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "transformer/cpu/packed_matrix.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/kernels/kernels.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// Columns of a matrix whose inputs are much larger than the rest. Rounded together with the rest they would set the
// scale of each row, and leave few steps for the other inputs. So they are multiplied apart, in float32. Immutable.
class OutlierColumns {
 public:
  OutlierColumns() = default;
  // Copies the columns of `weight` whose inputs are expected to be more than 8 times the median of sizes(), the largest
  // first, and no more than a 32nd of all. sizes() is called unless the memory is filled.
  OutlierColumns(const MatrixView& weight, WeightMemory& memory, const std::function<std::vector<float>()>& sizes);
  // Bytes of WeightMemory: for as many columns as there can be, since their number is not known before.
  static std::size_t memory_bytes(const MatrixView& weight) noexcept;

  bool empty() const noexcept { return columns_.empty(); }
  // The matrix with zeros in these columns. `weight` and this must outlive the view.
  MatrixView rest(const MatrixView& weight) const;
  // Moves these columns of rows to `taken`, [count][columns], and leaves zeros.
  void take(float* rows, std::size_t count, std::size_t ld, std::vector<float>& taken) const;
  // Adds the product of these columns to rows of y.
  void add_product(const Kernels& kernels, const std::vector<float>& taken, std::size_t count, float* y,
                   std::size_t ld) const;

 private:
  // In WeightMemory.
  std::span<const std::uint32_t> columns_;
  PackedMatrix weight_;
};

// The sizes to expect of a layer's results behind a norm: of each output, the root mean square for inputs of unit size,
// and a bias above zero.
std::vector<float> expected_sizes(const LayerNorm& norm, const Linear& linear);

// Makes columns of a matrix that are much smaller than the rest as large as the rest: returns a factor for each column,
// 1 for most. Whoever uses a factor divides the column's input by it. A matrix has one scale for each row, which leaves
// few steps for small columns.
std::vector<float> small_column_factors(const MatrixView& weight);

}  // namespace verbatim::transformer
