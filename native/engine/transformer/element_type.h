#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace verbatim::transformer {

// Types in which weights are stored. The values are those of CTranslate2's files (versions >= 4).
enum class ElementType : std::uint8_t {
  kFloat32 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kFloat16 = 4,
  kBfloat16 = 5,
};

// Bytes of one element.
std::size_t element_size(ElementType type) noexcept;
// "float32", "int8", ...
std::string_view element_type_name(ElementType type) noexcept;
// Element `index` as a float; the values need not be aligned.
float element_at(const std::byte* data, ElementType type, std::size_t index) noexcept;

}  // namespace verbatim::transformer
