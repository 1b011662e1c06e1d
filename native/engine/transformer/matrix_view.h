#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "transformer/element_type.h"

namespace verbatim::transformer {

// Reads the real values of one row of a matrix with its own way of storage. out.size() is the matrix's number of
// columns. Any thread; must not throw.
using RowReader = std::function<void(std::size_t row, std::span<float> out)>;

// A stored weight matrix [rows, columns] with its quantization scales: real value = stored / scale. A view into the
// model's file.
struct MatrixView {
  ElementType type = ElementType::kFloat32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::byte> data;
  // int8: one per row or one for all; int16: one for all; else empty.
  std::span<const std::byte> scales;
  ElementType scale_type = ElementType::kFloat32;
  // For int16 without a stored scale.
  float default_scale = 1.0f;
  // For types beyond ElementType and rows that are not contiguous. If set, it is the only source of the values, and the
  // members between `columns` and this have no meaning.
  RowReader reader;

  bool empty() const noexcept { return rows == 0; }
  // Whether the values are stored as `wanted`.
  bool holds(ElementType wanted) const noexcept { return !reader && type == wanted; }
  // Scale of a row, finite and not 0 (checked when the model is read).
  float row_scale(std::size_t row) const noexcept;
  // Real values of one row. out.size() == columns.
  void read_row(std::size_t row, std::span<float> out) const noexcept;
  // Stored values of one row. Requires holds(kInt8).
  void read_row_int8(std::size_t row, std::span<std::int8_t> out) const noexcept;
};

}  // namespace verbatim::transformer
