#pragma once

#include <cstddef>
#include <string_view>

namespace verbatim::whisper {

// Number of bytes of the first word of a non-empty text, by GPT-2's pattern as whisper.cpp spells it for bytes:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?[[:alpha:]]+| ?[[:digit:]]+| ?[^\s[:alpha:][:digit:]]+|\s+(?!\S)|\s+
//
// Every byte belongs to one word. std::regex is not used: it recurses for every byte of a word, so that a long word
// would end the process.
std::size_t first_word(std::string_view text) noexcept;

}  // namespace verbatim::whisper
