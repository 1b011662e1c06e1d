#include "speech/whisper/decoding/logits_rules.h"

#include <doctest/doctest.h>

#include <initializer_list>

// The tokens that may come next, on hand-written texts.
namespace verbatim::whisper {
namespace {

const SpecialTokens kTokens = special_tokens(51865);
const TokenId kEnd = kTokens.end_of_text;
const TokenId kTime = kTokens.first_time_stamp;
constexpr TokenId kBlank = 220;
const TextBounds kBounds{.seek_end = 3000};

Hypothesis text_of(std::initializer_list<TokenId> ids) {
  Hypothesis text;
  for (const TokenId id : ids) append(text, {.id = id, .time_stamp = id}, kBounds, kTokens);
  return text;
}

AllowedTokens allowed_after(std::initializer_list<TokenId> ids, int max_tokens = 0, bool time_stamps = true) {
  return LogitsRules{kTokens, kBlank, time_stamps, max_tokens}.allowed_after(text_of(ids));
}

void check_range(TokenRange range, TokenId begin, TokenId end) {
  CHECK(range.begin == begin);
  CHECK(range.end == end);
}

}  // namespace

TEST_CASE("logits rules: a text begins with a token that is not blank, or a time stamp of at most one second") {
  const AllowedTokens allowed = allowed_after({});
  check_range(allowed.text, 0, kEnd);
  CHECK(allowed.banned == kBlank);
  check_range(allowed.time_stamps, kTime, kTime + 51);
}

TEST_CASE("logits rules: text is followed by anything") {
  for (const AllowedTokens& allowed : {allowed_after({5}), allowed_after({kTime + 3, 5})}) {
    check_range(allowed.text, 0, kEnd + 1);
    CHECK(allowed.banned == -1);
    CHECK(allowed.time_stamps.end == kTokens.vocabulary);
  }
  CHECK(allowed_after({5}).time_stamps.begin == kTime);
}

TEST_CASE("logits rules: a time stamp behind text is followed by another one or by the end") {
  const AllowedTokens allowed = allowed_after({5, kTime + 9});
  check_range(allowed.text, kEnd, kEnd + 1);
  CHECK_FALSE(allowed.time_stamps.empty());
}

TEST_CASE("logits rules: a time stamp at the beginning, or behind another one, is followed by text") {
  for (const AllowedTokens& allowed :
       {allowed_after({kTime}), allowed_after({kTime + 9}), allowed_after({5, kTime + 9, kTime + 9})}) {
    check_range(allowed.text, 0, kEnd + 1);
    CHECK(allowed.banned == -1);
    CHECK(allowed.time_stamps.empty());
  }
}

TEST_CASE("logits rules: time stamps do not go back, but one of 0.00 is none") {
  check_range(allowed_after({kTime + 40, 5}).time_stamps, kTime + 40, kTokens.vocabulary);
  check_range(allowed_after({kTime + 40, 5, kTime + 90}).time_stamps, kTime + 90, kTokens.vocabulary);
  check_range(allowed_after({kTime, 5}).time_stamps, kTime, kTokens.vocabulary);
}

TEST_CASE("logits rules: at the limit of tokens a segment ends with a time stamp or the end of text") {
  check_range(allowed_after({5, 6}, 3).text, 0, kEnd + 1);
  const AllowedTokens allowed = allowed_after({5, 6, 7}, 3);
  check_range(allowed.text, kEnd, kEnd + 1);
  check_range(allowed.time_stamps, kTime, kTokens.vocabulary);
}

TEST_CASE("logits rules: a model without time stamps may decode none, and no limit cuts it off") {
  for (const AllowedTokens& allowed : {allowed_after({}, 0, false), allowed_after({5, 6, 7}, 3, false)}) {
    CHECK(allowed.time_stamps.empty());
    CHECK(allowed.text.begin == 0);
  }
}

}  // namespace verbatim::whisper
