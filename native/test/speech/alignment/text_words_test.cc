#include "speech/alignment/text_words.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "speech/alignment/characters.h"
#include "speech/utf8.h"
#include "support/seed.h"

namespace verbatim::alignment {
namespace {

using Tokens = std::vector<std::string_view>;
using Texts = std::vector<std::string>;

Texts words_of(const Tokens& tokens, bool spaced = true) {
  Texts texts;
  for (const TextWord& word : cut_words(tokens, spaced)) texts.push_back(word.text);
  return texts;
}

struct Core {
  std::size_t first;
  std::size_t last;
  bool operator==(const Core&) const = default;
};

std::vector<Core> cores_of(const Tokens& tokens, bool spaced = true) {
  std::vector<Core> cores;
  for (const TextWord& word : cut_words(tokens, spaced)) cores.push_back({word.first, word.last});
  return cores;
}

}  // namespace

TEST_CASE("words begin at spaces, and their punctuation is not timed") {
  const Tokens tokens{" Hel", "lo", ",", " wor", "ld", "!", " It", "'s", " 3", ".", "5", "."};
  CHECK(words_of(tokens) == Texts{" Hello,", " world!", " It's", " 3.5."});
  CHECK(cores_of(tokens) == std::vector<Core>{{0, 2}, {3, 5}, {6, 8}, {8, 11}});
  CHECK(words_of({" well", "-", "known"}) == Texts{" well-known"});
  CHECK(words_of({"Hello", " there"}) == Texts{"Hello", " there"});
  CHECK(words_of({" one"}) == Texts{" one"});
  CHECK(words_of({}) == Texts{});
}

TEST_CASE("punctuation on its own joins the word it belongs to") {
  CHECK(words_of({" say", " \"", "yes", "\"", " now"}) == Texts{" say", " \"yes\"", " now"});
  CHECK(words_of({" (", " [", " a", " ]"}) == Texts{" ( [ a ]"});
  CHECK(words_of({" foo", " —", " bar"}) == Texts{" foo —", " bar"});
  CHECK(words_of({" foo", " ...", " bar"}) == Texts{" foo ...", " bar"});
  CHECK(words_of({" ...", " bar"}) == Texts{" ... bar"});
  CHECK(cores_of({" ...", " bar", " ..."}) == std::vector<Core>{{1, 2}});
  CHECK(words_of({" ¿", "Qué", "?"}) == Texts{" ¿Qué?"});
  CHECK(words_of({" bar", " ("}) == Texts{" bar ("});
  // There is no other word.
  CHECK(words_of({" ..."}) == Texts{" ..."});
  CHECK(cores_of({" .", " ."}) == std::vector<Core>{{0, 2}});
}

TEST_CASE("no word is blank unless it is alone") {
  CHECK(words_of({" a", " ", " ", "b", " "}) == Texts{" a", "  b "});
  CHECK(words_of({" ", " a"}) == Texts{"  a"});
  CHECK(words_of({"  "}) == Texts{"  "});
  CHECK(words_of({"", " a", "", "b"}) == Texts{" ab"});
  CHECK(words_of({"", ""}) == Texts{});
}

TEST_CASE("tokens that are parts of characters are joined to whole characters") {
  // U+00E9 and U+1F600 in parts.
  CHECK(words_of({" caf", "\xc3", "\xa9", " \xf0\x9f", "\x98", "\x80", "."}) == Texts{" café", " 😀."});
  CHECK(cores_of({" caf", "\xc3", "\xa9", " b"}) == std::vector<Core>{{0, 3}, {3, 4}});
  // Bytes that are no character are left out of the text, as in the segment's text.
  CHECK(words_of({" a", "\xff", " b", "\xe2\x82"}) == Texts{" a", " b"});
  // A space within a broken character counts as a space.
  CHECK(words_of({" a\xe2", " b"}) == Texts{" a", " b"});
}

TEST_CASE("languages without spaces are cut at characters") {
  for (const char* code : {"zh", "ja", "yue", "th", "lo", "my", "km", "bo"}) CHECK_FALSE(has_spaces(code));
  for (const char* code : {"en", "de", "ko", "vi", "hi"}) CHECK(has_spaces(code));
  CHECK(words_of({"你好", "，", "世", "界", "。"}, false) == Texts{"你好，", "世", "界。"});
  CHECK(words_of({"他", "说", "「", "是", "」"}, false) == Texts{"他", "说", "「是」"});
  // Half a character each.
  CHECK(words_of({"\xe4\xbd", "\xa0", "好"}, false) == Texts{"你", "好"});
  CHECK(words_of({"买", "i", "Phone", " 1", "5", "吗"}, false) == Texts{"买", "iPhone", " 15", "吗"});
  // Vowels and tones of Thai stay with their consonant.
  CHECK(words_of({"น", "ี", "้", "ค", "่", "ะ"}, false) == Texts{"นี้", "ค่", "ะ"});
  // Marks in a language with spaces are only parts of words.
  CHECK(words_of({" 안녕", "하세요"}, true) == Texts{" 안녕하세요"});
}

TEST_CASE("the ends of sentences are found behind quotes, and in every script") {
  for (const char* text : {" end.", " end?\"", " \"end!\" ", "。", " fin…»", "เ।"}) CHECK(ends_sentence(text));
  for (const char* text : {"", " ", " end", " end,", " a.b", "\""}) CHECK_FALSE(ends_sentence(text));
}

TEST_CASE("any tokens become words that join to the text, in order") {
  const Tokens pieces{" ", "a",  " b", ".", ",",    "\"", " (", "\xc3", "\xa9", "\xf0\x9f", "\x98\x80",
                      "",  "你", "。", "-", "\xff", "\n", "'s", " …",   "5",    "ั",         "\xe2"};
  std::mt19937 random(test::seed());
  for (int round = 0; round < 20'000; ++round) {
    Tokens tokens(random() % 9);
    std::string bytes;
    for (auto& token : tokens) bytes += token = pieces[random() % pieces.size()];
    CAPTURE(bytes);
    const auto words = cut_words(tokens, round % 2 == 0);
    std::string joined;
    std::size_t at = 0;
    for (const TextWord& word : words) {
      joined += word.text;
      CHECK_FALSE(word.text.empty());
      CHECK((words.size() == 1 || !is_blank(word.text)));
      CHECK(word.first >= at);
      CHECK(word.last > word.first);
      at = word.last;
    }
    CHECK(at <= tokens.size());
    REQUIRE(joined == valid_utf8(bytes));
  }
}

}  // namespace verbatim::alignment
