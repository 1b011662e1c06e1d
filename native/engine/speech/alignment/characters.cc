#include "speech/alignment/characters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "speech/utf8.h"

namespace verbatim::alignment {
namespace {

// OpenAI's sets of punctuation, extended by the marks of other scripts.
constexpr std::string_view kOpening = "\"'([{-¿¡“‘„«‹「『（〈《【〔［｛";
constexpr std::string_view kOpeningOnly = "([{¿¡“‘„«‹「『（〈《【〔［｛";
constexpr std::string_view kPunctuation =
    "\"'([{-¿¡“‘„«‹「『（〈《【〔［｛.,!?:;)]}”’»›…–—。，！？：；、）」』〉》】〕］｝・।॥။၊།؟،؛";
constexpr std::string_view kSentenceEnds = ".!?…。！？।॥။།؟";
constexpr std::string_view kClosing = "\"')]}”’»›）」』〉》】〕］｝";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Combining marks: of the scripts that are written without spaces, and those common to every script.
constexpr std::array kMarks{Range{0x0300, 0x036F}, Range{0x0E31, 0x0E31}, Range{0x0E33, 0x0E3A}, Range{0x0E45, 0x0E4E},
                            Range{0x0EB1, 0x0EB1}, Range{0x0EB3, 0x0EBC}, Range{0x0EC8, 0x0ECE}, Range{0x0F18, 0x0F19},
                            Range{0x0F35, 0x0F35}, Range{0x0F37, 0x0F37}, Range{0x0F39, 0x0F39}, Range{0x0F3E, 0x0F3F},
                            Range{0x0F71, 0x0F84}, Range{0x0F86, 0x0F87}, Range{0x0F8D, 0x0FBC}, Range{0x102B, 0x103E},
                            Range{0x1056, 0x1059}, Range{0x105E, 0x1060}, Range{0x1062, 0x1064}, Range{0x1067, 0x106D},
                            Range{0x1071, 0x1074}, Range{0x1082, 0x108D}, Range{0x17B4, 0x17D3}, Range{0x17DD, 0x17DD},
                            Range{0x200D, 0x200D}, Range{0x3099, 0x309A}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_character_size(text, 0), 1));
}

// Index of the first byte of the last character.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool contains(std::string_view set, std::string_view character) {
  return set.find(character) != std::string_view::npos;
}

bool is_space(char character) noexcept { return character == ' ' || (character >= '\t' && character <= '\r'); }

bool has_only(std::string_view text, std::string_view set) {
  bool found = false;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const bool space = is_space(character.front());
    if (!space && !contains(set, character)) return false;
    found = found || !space;
    text.remove_prefix(character.size());
  }
  return found;
}

std::uint32_t code_point(std::string_view character) {
  constexpr std::array<std::uint32_t, 5> kLead{0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(character.front()) & kLead[character.size()];
  for (const char byte : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  return code;
}

}  // namespace

bool is_blank(std::string_view text) noexcept { return std::ranges::all_of(text, is_space); }

bool begins_with_space(std::string_view text) noexcept { return !text.empty() && is_space(text.front()); }

bool is_punctuation(std::string_view text) { return has_only(text, kPunctuation); }

bool is_opening(std::string_view text, bool sure) { return has_only(text, sure ? kOpeningOnly : kOpening); }

bool ends_sentence(std::string_view text) {
  while (!text.empty()) {
    const std::size_t at = last_character(text);
    const std::string_view character = text.substr(at);
    if (contains(kSentenceEnds, character)) return true;
    if (!is_space(character.front()) && !contains(kClosing, character)) return false;
    text = text.substr(0, at);
  }
  return false;
}

bool begins_with_mark(std::string_view text) noexcept {
  if (text.empty()) return false;
  const std::uint32_t code = code_point(first_character(text));
  return std::ranges::any_of(kMarks, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_latin(char character) noexcept {
  return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
         (character >= 'a' && character <= 'z');
}

}  // namespace verbatim::alignment
