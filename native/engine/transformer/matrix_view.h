#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "transformer/element_type.h"

namespace verbatim::transformer {

// Real values of one row of a matrix that is stored in a way of its own. out.size() is the matrix's columns.
// Any thread; must not throw.
using RowReader = std::function<void(std::size_t row, std::span<float> out)>;

// A stored weight matrix [rows, columns] with its quantization scales: real value = stored / scale. A view
// into the model's file.
struct MatrixView {
  ElementType type = ElementType::kFloat32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::byte> data;
  // int8: one per row or for all; int16: one for all; else empty.
  std::span<const std::byte> scales;
  ElementType scale_type = ElementType::kFloat32;
  // int16 without a stored scale.
  float default_scale = 1.0f;
  // Stored types beyond ElementType, and rows that lie apart: not null, it is all that is known of the
  // values, and everything between `columns` and this is without meaning.
  RowReader reader;

  bool empty() const noexcept { return rows == 0; }
  // Whether the values are stored as `wanted`.
  bool holds(ElementType wanted) const noexcept { return !reader && type == wanted; }
  // Scale of a row, finite and not 0 (checked when the model is read).
  float row_scale(std::size_t row) const noexcept;
  // Real values of one row. out.size() == columns.
  void read_row(std::size_t row, std::span<float> out) const noexcept;
  // Stored values of one row of a matrix that holds(kInt8).
  void read_row_int8(std::size_t row, std::span<std::int8_t> out) const noexcept;
};

}  // namespace verbatim::transformer
