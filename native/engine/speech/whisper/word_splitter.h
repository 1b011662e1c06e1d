#pragma once

#include <cstddef>
#include <string_view>

namespace verbatim::whisper {

// Bytes of the first word of a text that is not empty, by GPT-2's pattern as whisper.cpp spells it for bytes:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?[[:alpha:]]+| ?[[:digit:]]+| ?[^\s[:alpha:][:digit:]]+|\s+(?!\S)|\s+
//
// Every byte belongs to one word. The library's std::regex recurses for every byte of a word, so a long one
// would end the process.
std::size_t first_word(std::string_view text) noexcept;

}  // namespace verbatim::whisper
