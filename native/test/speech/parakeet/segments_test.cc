#include "speech/parakeet/segments.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "speech/support.h"

namespace verbatim::parakeet {
namespace {

// Tokens every half second, 0.4 s long; each probability is half of the one before.
std::vector<TimedToken> tokens_of(const std::vector<std::string>& pieces) {
  std::vector<TimedToken> tokens;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double start = 0.5 * static_cast<double>(i);
    tokens.push_back({{static_cast<int>(i) + 10, text_of_piece(pieces[i]), 0.5f}, start, start + 0.4});
  }
  return tokens;
}

const std::vector<std::string> kSpoken = {"▁It", "▁is", "▁3", ".", "5", ".", "▁Is", "n", "'t", "▁it", "?", "▁Yes"};

}  // namespace

TEST_CASE("a piece of SentencePiece is text with its space, or no text") {
  CHECK(text_of_piece("▁Hello") == " Hello");
  CHECK(text_of_piece("ell") == "ell");
  CHECK(text_of_piece("▁") == " ");
  CHECK(text_of_piece("a▁b▁") == "a b ");
  for (const char* control : {"<unk>", "<s>", "</s>", "[BLANK]"}) CHECK(text_of_piece(control).empty());
}

TEST_CASE("segments are sentences: behind a mark that ends one, before a space") {
  const auto segments = make_segments(tokens_of(kSpoken), 10, false, false);
  REQUIRE(segments.size() == 3);
  CHECK(segments[0].text == " It is 3.5.");
  CHECK(segments[1].text == " Isn't it?");
  CHECK(segments[2].text == " Yes");
  CHECK(segments[0].start_seconds == 0.0);
  // The end of the last word without its punctuation.
  CHECK(segments[0].end_seconds == doctest::Approx(2.4));
  CHECK(segments[1].start_seconds == doctest::Approx(3.0));
  CHECK(segments[0].tokens.size() == 6);
  CHECK(segments[0].words.empty());
  CHECK(!segments[0].decoding);
}

TEST_CASE("a word has its first and last token's times and its tokens' mean probability") {
  const auto segments = make_segments(tokens_of(kSpoken), 10, true, false);
  const std::vector<Word>& words = segments[1].words;
  REQUIRE(words.size() == 2);
  CHECK(words[0].text == " Isn't");
  CHECK(words[0].start_seconds == doctest::Approx(3.0));
  CHECK(words[0].end_seconds == doctest::Approx(4.4));
  CHECK(words[0].probability == 0.5f);
  CHECK(words[1].text == " it?");
  CHECK(words[1].end_seconds == doctest::Approx(4.9));
}

TEST_CASE("times are within the window, and there are no blank segments") {
  const auto segments = make_segments(tokens_of(kSpoken), 4.6, true, false);
  CHECK(segments[1].end_seconds == doctest::Approx(4.6));
  CHECK(segments[2].start_seconds == doctest::Approx(4.6));
  CHECK(make_segments(tokens_of({"▁", "▁"}), 10, true, true).empty());
  CHECK(make_segments({}, 10, true, true).empty());
}

TEST_CASE("a segment has its decoding, and a window its average log probability") {
  const auto tokens = tokens_of(kSpoken);
  const auto segments = make_segments(tokens, 10, false, true);
  CHECK(segments[2].decoding.value().tokens == std::vector<int>{21});
  CHECK(segments[0].decoding.value().average_log_probability == doctest::Approx(std::log(0.5)));
  WindowResult result;
  score_tokens(tokens, result);
  CHECK(result.scored_tokens == 12);
  CHECK(result.average_log_probability.value() == doctest::Approx(std::log(0.5)));
  WindowResult nothing;
  score_tokens({}, nothing);
  CHECK(!nothing.average_log_probability);
}

}  // namespace verbatim::parakeet
