#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace verbatim {

// Reading and writing unsigned integers in byte strings. The caller has checked the length.

inline std::uint16_t le16(std::span<const std::uint8_t> b) { return static_cast<std::uint16_t>(b[0] | b[1] << 8); }
inline std::uint32_t le32(std::span<const std::uint8_t> b) {
  return le16(b) | static_cast<std::uint32_t>(le16(b.subspan(2))) << 16;
}
inline std::uint64_t le64(std::span<const std::uint8_t> b) {
  return le32(b) | static_cast<std::uint64_t>(le32(b.subspan(4))) << 32;
}
inline std::uint16_t be16(std::span<const std::uint8_t> b) { return static_cast<std::uint16_t>(b[0] << 8 | b[1]); }
inline std::uint32_t be32(std::span<const std::uint8_t> b) {
  return static_cast<std::uint32_t>(be16(b)) << 16 | be16(b.subspan(2));
}

inline void append_le16(std::vector<std::uint8_t>& out, std::uint32_t value) {
  out.push_back(static_cast<std::uint8_t>(value));
  out.push_back(static_cast<std::uint8_t>(value >> 8));
}
inline void append_le32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  append_le16(out, value & 0xFFFF);
  append_le16(out, value >> 16);
}
inline void append_text(std::vector<std::uint8_t>& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

}  // namespace verbatim
