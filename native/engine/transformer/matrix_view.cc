#include "transformer/matrix_view.h"

#include <cstring>

#include "transformer/half.h"

namespace verbatim::transformer {
namespace {

template <typename T, typename Convert>
void convert_row(const std::byte* source, std::span<float> out, Convert convert) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, source + i * sizeof(T), sizeof(T));
    out[i] = convert(value);
  }
}

}  // namespace

float MatrixView::row_scale(std::size_t row) const noexcept {
  if (scales.empty()) return default_scale;
  const bool is_one_for_all = scales.size() == element_size(scale_type);
  return element_at(scales.data(), scale_type, is_one_for_all ? 0 : row);
}

void MatrixView::read_row(std::size_t row, std::span<float> out) const noexcept {
  if (reader) return reader(row, out);
  const std::byte* source = data.data() + row * columns * element_size(type);
  const float divisor = row_scale(row);
  switch (type) {
    case ElementType::kFloat32:
      std::memcpy(out.data(), source, columns * sizeof(float));
      return;
    case ElementType::kFloat16:
      return convert_row<std::uint16_t>(source, out, float16_to_float);
    case ElementType::kBfloat16:
      return convert_row<std::uint16_t>(source, out, bfloat16_to_float);
    case ElementType::kInt8:
      return convert_row<std::int8_t>(source, out,
                                      [=](std::int8_t value) { return static_cast<float>(value) / divisor; });
    case ElementType::kInt16:
      return convert_row<std::int16_t>(source, out,
                                       [=](std::int16_t value) { return static_cast<float>(value) / divisor; });
    case ElementType::kInt32:
      return convert_row<std::int32_t>(source, out, [](std::int32_t value) { return static_cast<float>(value); });
  }
}

void MatrixView::read_row_int8(std::size_t row, std::span<std::int8_t> out) const noexcept {
  std::memcpy(out.data(), data.data() + row * columns, columns);
}

}  // namespace verbatim::transformer
