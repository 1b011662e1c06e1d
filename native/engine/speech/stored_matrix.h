#pragma once

#include <ggml.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "speech/model_tensors.h"
#include "transformer/matrix_view.h"

namespace verbatim {

// A tensor's values in a file: at any address, without padding.
struct StoredTensor {
  TensorShape shape;
  // Offset of the first byte, from the file's start.
  std::uint64_t offset = 0;
};

// A matrix in a file: `rows` of `columns` values of ggml type `type`, at any address.
struct StoredMatrix {
  ggml_type type = GGML_TYPE_F32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::byte> data;

  // The tensor in a file with these bytes; a vector is a matrix of one row.
  static StoredMatrix of(const StoredTensor& tensor, std::span<const std::byte> file);

  std::size_t row_bytes() const noexcept { return ggml_row_size(type, static_cast<std::int64_t>(columns)); }
  // Real values of one row. out.size() == columns. Any thread.
  void read_row(std::size_t row, std::span<float> out) const noexcept;
  // The real values of all rows.
  std::vector<float> values() const;
};

// Matrices of the same width as one, its parts below each other. A view of the file.
transformer::MatrixView stacked(std::vector<StoredMatrix> parts);

// Fills the float16 conversion tables that some machines need. Must be called before the first row is read.
void prepare_conversions();

}  // namespace verbatim
