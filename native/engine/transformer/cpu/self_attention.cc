#include "transformer/cpu/self_attention.h"

#include <algorithm>
#include <span>

#include "transformer/cpu/accelerated_attention.h"
#include "transformer/cpu/kernel_attention.h"

namespace verbatim::transformer {
namespace {

// Columns [first, first + count) of a matrix, which must outlive the view.
MatrixView columns_of(const MatrixView& matrix, std::size_t first, std::size_t count) {
  MatrixView view;
  view.rows = matrix.rows;
  view.columns = count;
  view.reader = [&matrix, first, row = std::vector<float>(matrix.columns)](std::size_t i,
                                                                           std::span<float> out) mutable {
    matrix.read_row(i, row);
    std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
  };
  return view;
}

MatrixView shape_of(std::size_t rows, std::size_t columns) {
  MatrixView view;
  view.rows = rows;
  view.columns = columns;
  return view;
}

}  // namespace

std::unique_ptr<SelfAttention> make_self_attention(const ProductFormat& format, const Kernels& kernels,
                                                   const AttentionShape& shape) {
  if (format.accelerator) return std::make_unique<AcceleratedAttention>(format.accelerator, kernels, shape);
  return std::make_unique<KernelAttention>(kernels, format.type, shape);
}

AttentionOutput pack_attention_output(const Linear& linear, std::size_t heads, const ProductFormat& format,
                                      WeightMemory& memory) {
  AttentionOutput output;
  const std::size_t parts = format.accelerator ? 1 : heads;
  const std::size_t size = linear.weight.columns / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    output.parts.emplace_back(columns_of(linear.weight, part * size, size), format, memory);
  }
  output.bias = memory.take_floats(linear.weight.rows,
                                   [&](std::span<float> out) { std::ranges::copy(linear.bias, out.begin()); });
  return output;
}

std::size_t attention_output_bytes(const AttentionShape& shape, const ProductFormat& format) noexcept {
  return shape.heads * LinearWeight::memory_bytes(shape_of(shape.width, shape.head_size()), format) +
         WeightMemory::float_bytes(shape.width);
}

RelativePositions pack_relative_positions(const std::vector<float>& projected, const AttentionShape& shape,
                                          const ProductFormat& format, WeightMemory& memory) {
  const std::size_t rows = projected.size() / shape.width;
  const std::size_t size = shape.head_size();
  RelativePositions relative;
  relative.positions = (rows + 1) / 2;
  MatrixView all = shape_of(rows, shape.width);
  all.data = std::as_bytes(std::span(projected));
  for (std::size_t head = 0; head < shape.heads; ++head) {
    const MatrixView part = columns_of(all, head * size, size);
    if (!format.accelerator) {
      relative.heads.emplace_back(part, format.type, memory);
      continue;
    }
    const std::size_t row_bytes = size * accelerator::operand_size(format.accelerator.get());
    std::vector<float> row(size);
    for (std::size_t i = 0; i < rows; ++i) {
      part.read_row(i, row);
      relative.operands.resize(relative.operands.size() + row_bytes);
      accelerator::to_operands(*format.accelerator, row.data(), size,
                               relative.operands.data() + relative.operands.size() - row_bytes);
    }
  }
  relative.operands.shrink_to_fit();
  return relative;
}

std::size_t relative_positions_bytes(std::size_t positions, const AttentionShape& shape,
                                     const ProductFormat& format) noexcept {
  return shape.heads * LinearWeight::memory_bytes(shape_of(2 * positions - 1, shape.head_size()), format);
}

}  // namespace verbatim::transformer
