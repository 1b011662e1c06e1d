#include "speech/whisper/model/word_splitter.h"

#include <initializer_list>

namespace verbatim::whisper {
namespace {

enum class Kind { kSpace, kLetter, kDigit, kOther };

// ASCII, as in the C locale; bytes of longer characters are neither letters nor spaces.
Kind kind_of(char c) noexcept {
  if (c == ' ' || (c >= '\t' && c <= '\r')) return Kind::kSpace;
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::kLetter;
  return c >= '0' && c <= '9' ? Kind::kDigit : Kind::kOther;
}

// Number of bytes of one kind from `at` on.
std::size_t run_length(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() && kind_of(text[end]) == kind_of(text[at])) ++end;
  return end - at;
}

// Length of the contraction at the start; 0 for none.
std::size_t contraction(std::string_view text) noexcept {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

}  // namespace

std::size_t first_word(std::string_view text) noexcept {
  if (const std::size_t length = contraction(text)) return length;
  const bool after_blank = text[0] == ' ' && text.size() > 1 && kind_of(text[1]) != Kind::kSpace;
  if (after_blank) return 1 + run_length(text, 1);
  const std::size_t run = run_length(text, 0);
  // The last of several spaces belongs to the word that follows.
  const bool leaves_one = kind_of(text[0]) == Kind::kSpace && run > 1 && run < text.size();
  return leaves_one ? run - 1 : run;
}

}  // namespace verbatim::whisper
