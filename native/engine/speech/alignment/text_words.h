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
  // Its tokens [first, last), without the punctuation at its ends. If the word is nothing but punctuation, all its
  // tokens.
  std::size_t first = 0;
  std::size_t last = 0;
};

// Whether a language is written with spaces between words. `code`: whisper.cpp's language code.
bool has_spaces(std::string_view code) noexcept;

// Cuts a text into words. Joined, the words are valid_utf8() of the joined tokens.
// - Languages with spaces: a word begins at every token that begins with a space and a whole character.
// - Languages without: a word begins at every token that begins with a whole character. Marks that combine with the
//   character before them do not begin a word, nor do Latin letters and digits that follow each other.
// - Punctuation joins the word before it; opening punctuation joins the word after it (merge_punctuations in OpenAI's
//   whisper/timing.py).
//
// No word is empty, and none is blank unless it is the only one. Tokens may be parts of characters, or no characters at
// all.
std::vector<TextWord> cut_words(std::span<const std::string_view> tokens, bool spaced);

}  // namespace verbatim::alignment
