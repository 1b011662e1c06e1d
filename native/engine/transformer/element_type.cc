#include "transformer/element_type.h"

#include "load_unaligned.h"
#include "transformer/half.h"

namespace verbatim::transformer {

std::size_t element_size(ElementType type) noexcept {
  switch (type) {
    case ElementType::kInt8:
      return 1;
    case ElementType::kInt16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2;
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
  }
  return 4;
}

std::string_view element_type_name(ElementType type) noexcept {
  switch (type) {
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kBfloat16:
      return "bfloat16";
  }
  return "unknown";
}

float element_at(const std::byte* data, ElementType type, std::size_t index) noexcept {
  const std::byte* source = data + index * element_size(type);
  switch (type) {
    case ElementType::kFloat32:
      return load_unaligned<float>(source);
    case ElementType::kInt8:
      return static_cast<float>(load_unaligned<std::int8_t>(source));
    case ElementType::kInt16:
      return static_cast<float>(load_unaligned<std::int16_t>(source));
    case ElementType::kInt32:
      return static_cast<float>(load_unaligned<std::int32_t>(source));
    case ElementType::kFloat16:
      return float16_to_float(load_unaligned<std::uint16_t>(source));
    case ElementType::kBfloat16:
      return bfloat16_to_float(load_unaligned<std::uint16_t>(source));
  }
  return 0.0f;
}

}  // namespace verbatim::transformer
