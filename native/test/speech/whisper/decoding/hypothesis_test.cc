#include "speech/whisper/decoding/hypothesis.h"

#include <doctest/doctest.h>

#include <vector>

// A text token by token: where its window continues, and when it ends.
namespace verbatim::whisper {
namespace {

const SpecialTokens kTokens = special_tokens(51865);
const TokenId kEnd = kTokens.end_of_text;
const TokenId kTime = kTokens.first_time_stamp;
const TextBounds kBounds{.seek_end = 3000};

Hypothesis text_of(const std::vector<TokenId>& ids, const TextBounds& bounds = kBounds) {
  Hypothesis text;
  for (const TokenId id : ids) {
    CHECK_FALSE(text.ended());
    append(text, {.id = id, .time_stamp = id, .probability = 0.5f, .log_probability = -0.5f}, bounds, kTokens);
  }
  return text;
}

}  // namespace

TEST_CASE("hypothesis: log probabilities add up over all tokens, also those that do not count") {
  const Hypothesis text = text_of({5, kTime + 9, kTime + 9, 6});
  CHECK(text.log_probability == doctest::Approx(-2.0));
  CHECK(text.tokens.size() == 4);
  CHECK_FALSE(text.ended());
}

TEST_CASE("hypothesis: the window continues at the last time stamp, with the audio behind it") {
  const Hypothesis text = text_of({kTime + 5, 5, kTime + 100, kTime + 110, 6, 7, kEnd});
  CHECK(text.completed);
  CHECK(text.has_time_stamp);
  CHECK(text.seek_delta == 220);
  CHECK(text.result_length == 4);
}

TEST_CASE("hypothesis: a time stamp of 0.00 is none") {
  const Hypothesis text = text_of({kTime, 5});
  CHECK_FALSE(text.has_time_stamp);
  CHECK(text.seek_delta == 3000);
  CHECK(text.result_length == 0);
}

TEST_CASE("hypothesis: a time stamp earlier than the text before it is a failure") {
  CHECK(text_of({kTime + 50, 5, kTime + 49}).failed);
  CHECK_FALSE(text_of({kTime + 50, 5, kTime + 50}).failed);
  // As in whisper.cpp, the second of a pair may be earlier.
  const Hypothesis pair = text_of({5, kTime + 50, kTime + 40});
  CHECK_FALSE(pair.ended());
  CHECK(pair.seek_delta == 80);
  CHECK(pair.result_length == 3);
}

TEST_CASE("hypothesis: a text without a time stamp fails unless it reaches the end of the audio") {
  for (const int seek_end : {3000, 3010, 3011}) {
    CAPTURE(seek_end);
    const Hypothesis text = text_of({5, 6, kEnd}, {.seek_end = seek_end});
    CHECK(text.completed == (seek_end <= 3010));
    CHECK(text.failed == (seek_end > 3010));
    CHECK(text.result_length == (seek_end > 3010 ? 0 : 3));
  }
}

TEST_CASE("hypothesis: a time stamp that reaches the end of the audio ends the text") {
  CHECK(text_of({5, kTime + 95}, {.seek = 300, .seek_end = 500}).completed);
  CHECK_FALSE(text_of({5, kTime + 94}, {.seek = 300, .seek_end = 500}).ended());
  // Without a time stamp, the assumed window does not reach the end.
  CHECK_FALSE(text_of({5}, {.seek = 300, .seek_end = 500}).ended());
}

TEST_CASE("hypothesis: a limit of tokens ends the text with the token beyond it") {
  CHECK_FALSE(text_of({kTime + 5, 5, 6}, {.seek_end = 3000, .max_tokens = 3}).ended());
  const Hypothesis text = text_of({kTime + 5, 5, 6, 7}, {.seek_end = 3000, .max_tokens = 3});
  CHECK(text.completed);
  CHECK(text.result_length == 1);
}

TEST_CASE("hypothesis: a text that is cut off at its longest fails unless it covers half the window") {
  const auto cut_off = [](TokenId last_time_stamp) {
    return text_of({5, last_time_stamp, 6}, {.seek_end = 3000, .longest = 3});
  };
  CHECK(cut_off(kTime + 749).failed);
  CHECK_FALSE(cut_off(kTime + 750).ended());
  CHECK(text_of({5, 6, 7}, {.seek_end = 3000, .longest = 3}).failed);
  CHECK_FALSE(text_of({5, 6}, {.seek_end = 3000, .longest = 3}).ended());
}

TEST_CASE("hypothesis: without time stamps in the model all tokens count, and the window is done") {
  // Whatever time stamps it had.
  for (const TokenId id : {6, kTime + 100}) {
    const Hypothesis text = text_of({5, id, 7, kEnd}, {.seek_end = 9000, .time_stamps = false});
    CHECK(text.completed);
    CHECK(text.result_length == 4);
    CHECK(text.seek_delta == 3000);
  }
}

}  // namespace verbatim::whisper
