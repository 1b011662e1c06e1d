#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::alignment {

// A word of a text that is given as tokens.
struct TextWord {
  // Valid UTF-8, with the space before it.
  std::string text;
  // Its tokens without the punctuation at its ends, [first, last) of all; where it is nothing else, with it.
  std::size_t first = 0;
  std::size_t last = 0;
};

// Whether a language is written with spaces between its words. `code`: whisper.cpp's.
bool has_spaces(std::string_view code) noexcept;

// Cuts a text into words, which joined are valid_utf8() of the tokens joined. With spaces a word begins
// wherever a token begins with a space and a whole character; without, at every token that begins with a
// whole character, but for marks that combine with the character before them and for letters and digits of
// the Latin alphabet that follow each other. Punctuation joins the word before it, or after it when it opens
// something (merge_punctuations in OpenAI's whisper/timing.py). No word is empty or, if another one is there,
// blank. Tokens may be parts of characters, or no characters at all.
std::vector<TextWord> cut_words(std::span<const std::string_view> tokens, bool spaced);

}  // namespace verbatim::alignment
