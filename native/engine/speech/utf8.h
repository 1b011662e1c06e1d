#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace verbatim {

// Removes every byte that is not part of a well-formed UTF-8 character (RFC 3629: no overlong forms, no surrogates,
// nothing above U+10FFFF). Whisper's tokens are bytes, so a model can end a segment within a character.
std::string valid_utf8(std::string_view text);

// Bytes of the well-formed character that starts at `i`; 0 if there is none. i < text.size().
std::size_t utf8_character_size(std::string_view text, std::size_t i) noexcept;

}  // namespace verbatim
