#include "speech/whisper/decoding/sequence_score.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "speech/support.h"
#include "speech/whisper/model/model_reader.h"
#include "speech/whisper/model/vocabulary.h"

namespace verbatim::whisper {
namespace {

const SpecialTokens kTokens = special_tokens(51865);

std::vector<DecodedToken> tokens_of(const std::vector<TokenId>& ids) {
  std::vector<DecodedToken> tokens;
  for (const TokenId id : ids) tokens.push_back({id, id, 0.5f, -0.25f});
  return tokens;
}

// `before`, then `phrase` so many times, then `after`.
std::vector<TokenId> repeated(const std::vector<TokenId>& phrase, int times, const std::vector<TokenId>& before = {},
                              const std::vector<TokenId>& after = {}) {
  std::vector<TokenId> ids = before;
  for (int i = 0; i < times; ++i) ids.insert(ids.end(), phrase.begin(), phrase.end());
  ids.insert(ids.end(), after.begin(), after.end());
  return ids;
}

std::vector<TokenId> phrase_of(int length) {
  std::vector<TokenId> phrase;
  for (int i = 0; i < length; ++i) phrase.push_back(100 + i);
  return phrase;
}

bool loops(const std::vector<TokenId>& ids) { return whisper::loops(tokens_of(ids), kTokens); }

TEST_CASE("sequence score: the mean log probability") {
  CHECK(average_log_probability(tokens_of({1, 2, 3})) == doctest::Approx(-0.25));
  CHECK(std::isinf(average_log_probability({})));
}

TEST_CASE("sequence score: the entropy is that of the last 32 tokens") {
  CHECK(entropy(tokens_of(repeated({7}, 40))) == doctest::Approx(0.0));
  CHECK(entropy(tokens_of(repeated({7, 8}, 40))) == doctest::Approx(std::log(2.0)));
  CHECK(entropy(tokens_of(repeated({7}, 32, phrase_of(50)))) == doctest::Approx(0.0));
  CHECK(entropy(tokens_of(phrase_of(100))) == doctest::Approx(std::log(32.0)));
}

TEST_CASE("loops: a phrase of one to eight tokens, at least five times in a row and sixteen tokens in total") {
  for (int length = 1; length <= 8; ++length) {
    CAPTURE(length);
    const int enough = std::max(5, (16 + length - 1) / length);
    CHECK(loops(repeated(phrase_of(length), enough)));
    CHECK(loops(repeated(phrase_of(length), enough, {1, 2, 3}, {4, 5, 6})));
    CHECK_FALSE(loops(repeated(phrase_of(length), enough - 1)));
    // An interruption in the middle.
    CHECK_FALSE(loops(repeated(phrase_of(length), enough - 1, repeated(phrase_of(length), 1, {}, {9}))));
  }
  CHECK_FALSE(loops(repeated(phrase_of(9), 20)));
  CHECK_FALSE(loops({}));
}

TEST_CASE("loops: time stamps between the repetitions make no difference") {
  const TokenId first = kTokens.first_time_stamp;
  std::vector<TokenId> ids;
  for (int i = 0; i < 8; ++i) {
    for (const TokenId id : {first + 50 * i, 11, 12, first + 50 * i + 50}) ids.push_back(id);
  }
  CHECK(loops(ids));
  CHECK_FALSE(loops(repeated({first + 5}, 30)));
  CHECK_FALSE(loops(repeated({kTokens.end_of_text}, 30)));
}

TEST_CASE("loops: phrases that people repeat are none") {
  // "zero zero zero", "no no no", "very, very, very, very", "ha ha ha ha ha ha"
  CHECK_FALSE(loops(repeated({1000}, 3, {4, 8}, {15})));
  CHECK_FALSE(loops(repeated({1000}, 6)));
  CHECK_FALSE(loops(repeated({1000, 11}, 7)));
  // A refrain of four lines.
  CHECK_FALSE(loops(repeated({1, 2, 3, 4}, 4)));
  // Digits read aloud, with their commas: 0 0 0 7 7 0 0 0 7 7
  CHECK_FALSE(loops(repeated({10, 10, 10, 17, 17}, 3)));
}

std::string times(int count, const std::string& phrase) {
  std::string text;
  for (int i = 0; i < count; ++i) text += phrase;
  return text;
}

TEST_CASE("loops: texts in the bundled model's own tokens") {
  const ModelReader reader(test::bundled_model_path());
  const Vocabulary vocabulary(reader.vocabulary(), reader.info().shape.vocabulary);
  const auto is_loop = [&](const std::string& text) { return loops(vocabulary.tokenize(text)); };
  for (const test::Clip& clip : test::clips()) {
    CAPTURE(clip.text);
    CHECK_FALSE(is_loop(" " + clip.text));
  }
  for (const std::string& phrase :
       {times(3, " zero"), times(4, " zero") + " one" + times(4, " zero"), times(7, " no,"), times(3, " no"),
        std::string(" My number is 000 000 0000."), times(3, " Thank you very much."), times(4, " Let it be."),
        times(12, " ha"), times(5, " nein,")}) {
    CAPTURE(phrase);
    CHECK_FALSE(is_loop(phrase));
  }
  for (const std::string& looping :
       {times(16, " dos"), times(8, " dos,"), times(8, " Thank you."), times(6, " I don't know."),
        std::string(" Son las") + times(16, " dos") + " menos diez."}) {
    CAPTURE(looping);
    CHECK(is_loop(looping));
  }
}

}  // namespace
}  // namespace verbatim::whisper
