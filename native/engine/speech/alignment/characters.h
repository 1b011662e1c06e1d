#pragma once

#include <string_view>

// What characters are to a text that is cut into words. Texts are valid UTF-8.
namespace verbatim::alignment {

bool is_blank(std::string_view text) noexcept;
bool begins_with_space(std::string_view text) noexcept;
// Nothing but punctuation and spaces, one at least of the former.
bool is_punctuation(std::string_view text);
// The same, of what stands before the word it belongs to: brackets and quotes that open. `sure`: nothing that
// may stand behind a word as well.
bool is_opening(std::string_view text, bool sure);
// Ends with a mark that ends a sentence, closing quotes and brackets behind it or not.
bool ends_sentence(std::string_view text);
// Begins with a mark that combines with the character before it.
bool begins_with_mark(std::string_view text) noexcept;
// A letter or digit of ASCII.
bool is_latin(char character) noexcept;

}  // namespace verbatim::alignment
