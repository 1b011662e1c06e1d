#pragma once

#include <string_view>

// Character classes for cutting a text into words. Texts are valid UTF-8.
namespace verbatim::alignment {

bool is_blank(std::string_view text) noexcept;
bool begins_with_space(std::string_view text) noexcept;
// True if the text has nothing but punctuation and spaces, and at least one punctuation mark.
bool is_punctuation(std::string_view text);
// The same for punctuation that belongs to the word after it: opening brackets and quotes. `sure`: excludes marks that
// may also end a word.
bool is_opening(std::string_view text, bool sure);
// True if the text ends with a mark that ends a sentence; closing quotes and brackets may follow the mark.
bool ends_sentence(std::string_view text);
// True if the text begins with a mark that combines with the character before it.
bool begins_with_mark(std::string_view text) noexcept;
// An ASCII letter or digit.
bool is_latin(char character) noexcept;

}  // namespace verbatim::alignment
