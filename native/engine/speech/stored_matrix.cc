#include "speech/stored_matrix.h"

#include <ggml-cpu.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace verbatim {
namespace {

void convert(ggml_type type, const std::byte* from, float* to, std::int64_t count) {
  if (type == GGML_TYPE_F32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  } else if (type == GGML_TYPE_F16) {
    ggml_cpu_fp16_to_fp32(reinterpret_cast<const ggml_fp16_t*>(from), to, count);
  } else {
    ggml_get_type_traits(type)->to_float(from, to, count);
  }
}

}  // namespace

StoredMatrix StoredMatrix::of(const StoredTensor& tensor, std::span<const std::byte> file) {
  const auto& dimensions = tensor.shape.dimensions;
  return {tensor.shape.type, static_cast<std::size_t>(dimensions[1] * dimensions[2] * dimensions[3]),
          static_cast<std::size_t>(dimensions[0]), file.subspan(tensor.offset, tensor.shape.bytes())};
}

// ggml converts from aligned memory only, so a row is copied in blocks. A block holds whole quantization blocks of
// every type.
void StoredMatrix::read_row(std::size_t row, std::span<float> out) const noexcept {
  constexpr std::size_t kValues = 256;
  alignas(64) std::array<std::byte, kValues * sizeof(float)> block;
  const std::byte* from = data.data() + row * row_bytes();
  for (std::size_t first = 0; first < columns; first += kValues) {
    const auto count = static_cast<std::int64_t>(std::min(kValues, columns - first));
    const std::size_t bytes = ggml_row_size(type, count);
    std::memcpy(block.data(), from, bytes);
    convert(type, block.data(), out.data() + first, count);
    from += bytes;
  }
}

std::vector<float> StoredMatrix::values() const {
  std::vector<float> all(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    read_row(row, std::span(all).subspan(row * columns, columns));
  }
  return all;
}

transformer::MatrixView stacked(std::vector<StoredMatrix> parts) {
  transformer::MatrixView view;
  view.columns = parts.front().columns;
  for (const StoredMatrix& part : parts) view.rows += part.rows;
  view.reader = [parts = std::move(parts)](std::size_t row, std::span<float> out) {
    std::size_t i = 0;
    for (; row >= parts[i].rows; ++i) row -= parts[i].rows;
    parts[i].read_row(row, out);
  };
  return view;
}

void prepare_conversions() { ggml_cpu_init(); }

}  // namespace verbatim
