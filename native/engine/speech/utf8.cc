#include "speech/utf8.h"

namespace verbatim {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

}  // namespace

// Table 3-7 of the Unicode standard.
std::size_t utf8_character_size(std::string_view text, std::size_t i) noexcept {
  const unsigned lead = byte_at(text, i);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                           : (lead & 0xF0) == 0xE0        ? 3
                           : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                          : 0;
  if (size == 0 || text.size() - i < size) return 0;
  for (std::size_t j = 1; j < size; ++j) {
    if ((byte_at(text, i + j) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte_at(text, i + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : size;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utf8_character_size(text, i);
    result.append(text, i, size);
    i += size == 0 ? 1 : size;
  }
  return result;
}

}  // namespace verbatim
