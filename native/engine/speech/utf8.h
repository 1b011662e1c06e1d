#pragma once

#include <string>
#include <string_view>

namespace verbatim {

// The text with every byte left out that is not part of a well-formed UTF-8 character (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF). Whisper's tokens are bytes, so a model can end a segment in
// the middle of a character.
std::string valid_utf8(std::string_view text);

}  // namespace verbatim
