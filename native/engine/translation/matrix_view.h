#pragma once

#include <cstddef>
#include <span>

#include "translation/ct2_file.h"

namespace verbatim::translation {

// A stored weight matrix [rows, columns] with its quantization scales: real value = stored / scale. A view
// into the file.
struct MatrixView {
  Ct2Type type = Ct2Type::kFloat32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::byte> data;
  // int8: one per row; int16: one for all; else empty.
  const Ct2Variable* scale = nullptr;
  // int16 without a stored scale.
  float default_scale = 1.0f;

  bool empty() const noexcept { return rows == 0; }
  // Scale of a row, finite and not 0 (checked when the model is read).
  float row_scale(std::size_t row) const noexcept;
  // Real values of one row. out.size() == columns.
  void read_row(std::size_t row, std::span<float> out) const noexcept;
  // Stored values of one row of an int8 matrix.
  void read_row_int8(std::size_t row, std::span<std::int8_t> out) const noexcept;
};

}  // namespace verbatim::translation
