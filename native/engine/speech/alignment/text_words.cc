#include "speech/alignment/text_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "speech/alignment/characters.h"
#include "speech/utf8.h"

namespace verbatim::alignment {
namespace {

// A run of tokens that begins and ends at character boundaries.
struct Unit {
  std::string text;
  std::size_t first = 0;
  std::size_t last = 0;
};

// A word being built. first == last: none of its tokens so far is more than punctuation.
struct Draft {
  std::string text;
  std::size_t first = 0;
  std::size_t last = 0;
  // The range of all its tokens.
  std::size_t begin = 0;
  std::size_t end = 0;

  void add(const Unit& unit) {
    if (end == 0) begin = unit.first;
    text += unit.text;
    end = unit.last;
    if (is_blank(unit.text) || is_punctuation(unit.text)) return;
    if (first == last) first = unit.first;
    last = unit.last;
  }
};

// Where the joined tokens may be split: at the character boundaries that valid_utf8() finds.
std::vector<bool> borders(std::string_view text) {
  std::vector<bool> found(text.size() + 1, false);
  for (std::size_t i = 0; i < text.size();) {
    found[i] = true;
    i += std::max<std::size_t>(utf8_character_size(text, i), 1);
  }
  found[text.size()] = true;
  return found;
}

std::vector<Unit> units_of(std::span<const std::string_view> tokens) {
  std::string joined;
  for (const std::string_view token : tokens) joined += token;
  const std::vector<bool> is_border = borders(joined);
  std::vector<Unit> units;
  std::size_t begin = 0, end = 0, first = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    end += tokens[i].size();
    const bool is_last = i + 1 == tokens.size();
    if (!is_last && (!is_border[end] || end == begin)) continue;
    units.push_back({valid_utf8(std::string_view(joined).substr(begin, end - begin)), first, i + 1});
    begin = end;
    first = i + 1;
  }
  return units;
}

bool begins_word(const Unit& unit, const Draft& draft, bool spaced) {
  if (unit.text.empty() || is_blank(draft.text)) return false;
  if (begins_with_space(unit.text)) return true;
  if (spaced || begins_with_mark(unit.text)) return false;
  return !(is_latin(unit.text.front()) && is_latin(draft.text.back()));
}

std::vector<Draft> drafts_of(std::span<const std::string_view> tokens, bool spaced) {
  std::vector<Draft> drafts;
  for (const Unit& unit : units_of(tokens)) {
    if (drafts.empty() || begins_word(unit, drafts.back(), spaced)) drafts.emplace_back();
    drafts.back().add(unit);
  }
  return drafts;
}

// Joins two drafts. [first, last) belongs to the draft that is more than punctuation.
Draft joined(const Draft& before, const Draft& after) {
  const Draft& word = before.first < before.last ? before : after;
  return {before.text + after.text, word.first, word.last, before.begin, after.end};
}

bool is_loose(const Draft& draft) { return is_punctuation(draft.text) || is_blank(draft.text); }

// Opening punctuation joins the word after it. Runs from last to first, so that several marks in a row join it too.
std::vector<Draft> with_opening(std::vector<Draft> drafts, bool spaced) {
  std::vector<Draft> kept;
  for (std::size_t i = drafts.size(); i-- > 0;) {
    const bool opens = is_opening(drafts[i].text, !spaced && !begins_with_space(drafts[i].text)) && !kept.empty();
    if (opens) {
      kept.back() = joined(drafts[i], kept.back());
    } else {
      kept.push_back(std::move(drafts[i]));
    }
  }
  std::ranges::reverse(kept);
  return kept;
}

// All other punctuation joins the word before it. Before the first word, it joins the first word.
std::vector<Draft> with_closing(std::vector<Draft> drafts) {
  std::vector<Draft> kept;
  for (Draft& draft : drafts) {
    if (!kept.empty() && (is_loose(draft) || is_loose(kept.back()))) {
      kept.back() = joined(kept.back(), draft);
    } else {
      kept.push_back(std::move(draft));
    }
  }
  return kept;
}

}  // namespace

bool has_spaces(std::string_view code) noexcept {
  constexpr std::array<std::string_view, 8> kWithout{"zh", "ja", "yue", "th", "lo", "my", "km", "bo"};
  return std::ranges::find(kWithout, code) == kWithout.end();
}

std::vector<TextWord> cut_words(std::span<const std::string_view> tokens, bool spaced) {
  std::vector<TextWord> words;
  for (Draft& draft : with_closing(with_opening(drafts_of(tokens, spaced), spaced))) {
    if (draft.text.empty()) continue;
    const bool has_core = draft.first < draft.last;
    words.push_back({std::move(draft.text), has_core ? draft.first : draft.begin, has_core ? draft.last : draft.end});
  }
  return words;
}

}  // namespace verbatim::alignment
