#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "speech/whisper/window_by_hand.h"

// Which text of a pass is taken, when a warmer temperature is tried, and where the window goes on: told by
// hand.
namespace verbatim::whisper {
namespace {

using Phase = WindowDecoding::Phase;
constexpr std::size_t kNewText = DecodingRequest::kNewText;

// Of text alone, whose tokens are so likely as their number allows; a token of them is 6 nats away from
// certain.
constexpr TokenId kFirstGuess = 1000;
constexpr int kGuesses = 400;
std::vector<float> unsure() {
  std::vector<float> logits(static_cast<std::size_t>(kModel.tokens.vocabulary), -100.0f);
  std::fill_n(logits.begin() + kFirstGuess, kGuesses, 0.0f);
  return logits;
}

// What each row says next.
void say_each(WindowDecoding& decoding, const std::vector<std::vector<float>>& logits) {
  REQUIRE(decoding.request().rows.size() == logits.size());
  for (std::size_t row = 0; row < logits.size(); ++row) {
    std::vector<float> copy = logits[row];
    decoding.visit(row, copy);
  }
  decoding.advance();
}

void begin(WindowDecoding& decoding) {
  REQUIRE(decoding.phase() == Phase::kEncode);
  decoding.encoded();
}

// Two candidates of a temperature, and no other one.
DecodeOptions two_candidates() {
  DecodeOptions options = cold("en");
  options.temperature = 1.0f;
  options.best_of = 2;
  return options;
}

// A fall-back from 0 to 1, with one candidate there; nothing fails but what the test makes fail.
DecodeOptions patient() {
  DecodeOptions options = cold("en");
  options.temperature_increment = 1.0f;
  options.best_of = 1;
  options.entropy_threshold = 0.0f;
  options.log_prob_threshold = -1e6f;
  return options;
}

bool falls_back(const WindowDecoding& decoding) {
  return decoding.phase() == Phase::kDecode && decoding.request().parents == std::vector{kNewText};
}

// Two tokens in the order of Thue and Morse, in which nothing is said three times on end.
TokenId of_two(unsigned place) { return __builtin_popcount(place) % 2 == 0 ? 10 : 11; }

TEST_CASE("window fall-back: a loop is a failure where there is a fall-back, and only there") {
  for (const float increment : {0.0f, 1.0f}) {
    DecodeOptions options = cold("en");
    options.temperature_increment = increment;
    options.best_of = 1;
    options.entropy_threshold = 0.0f;
    options.log_prob_threshold = -1e6f;
    WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
    decoding.encoded();
    for (int i = 0; i < 16; ++i) say(decoding, 10);
    say(decoding, kEnd);
    if (increment == 0.0f) {
      CHECK(decoding.phase() == Phase::kDone);
      CHECK(result_of(decoding).segments.size() == 1);
      continue;
    }
    REQUIRE(decoding.phase() == Phase::kDecode);
    CHECK(decoding.request().parents == std::vector{kNewText});
    say(decoding, 11);
    say(decoding, kEnd);
    const WindowResult result = result_of(decoding);
    CHECK(result.segments[0].text == " there");
    CHECK(result.timings.fallbacks == 1);
    CHECK(result.timings.tokens == 19);
  }
}

TEST_CASE("window fall-back: silence, where nobody speaks and the text is unsure") {
  const auto segments = [](float log_prob_threshold) {
    DecodeOptions options = cold("en");
    options.log_prob_threshold = log_prob_threshold;
    WindowDecoding decoding(kModel, options, {}, 5 * kSecond);
    decoding.encoded();
    std::vector<float> start = certain(kModel.tokens.no_speech);
    std::vector<float> text = certain(10);
    decoding.visit(0, start);
    decoding.visit(2, text);
    decoding.advance();
    say(decoding, kEnd);
    return result_of(decoding).segments;
  };
  CHECK(segments(1.0f).empty());
  REQUIRE(segments(-1.0f).size() == 1);
  CHECK(segments(-1.0f)[0].no_speech_probability == doctest::Approx(1.0));
}

// Two texts of few tokens again and again, that differ in their second token: 10 and 11.
void fail_both(WindowDecoding& decoding) {
  say(decoding, 10);
  say_each(decoding, {certain(10), certain(11)});
  for (unsigned i = 0; i < 33; ++i) say(decoding, of_two(i));
  say(decoding, kEnd);
}

TEST_CASE("window fall-back: few tokens again and again are a failure, in texts of more than 32") {
  for (const unsigned length : {32u, 33u}) {
    CAPTURE(length);
    DecodeOptions options = patient();
    options.entropy_threshold = 2.4f;
    WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
    begin(decoding);
    for (unsigned i = 0; i + 1 < length; ++i) say(decoding, of_two(i));
    say(decoding, kEnd);
    CHECK(falls_back(decoding) == (length == 33));
    CHECK((decoding.phase() == Phase::kDone) == (length == 32));
  }
}

TEST_CASE("window fall-back: a text that is unsure of itself, unless nobody may be speaking") {
  for (const bool is_speech : {true, false}) {
    CAPTURE(is_speech);
    DecodeOptions options = patient();
    options.log_prob_threshold = -1.0f;
    WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
    begin(decoding);
    std::vector<float> start = certain(is_speech ? 10 : kModel.tokens.no_speech);
    std::vector<float> text = unsure();
    decoding.visit(0, start);
    decoding.visit(2, text);
    decoding.advance();
    say(decoding, kEnd);
    CHECK(falls_back(decoding) == is_speech);
  }
}

TEST_CASE("window fall-back: a sure text is taken though another temperature is allowed") {
  DecodeOptions options = patient();
  options.log_prob_threshold = -1.0f;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  begin(decoding);
  say(decoding, 10);
  say(decoding, kEnd);
  CHECK(decoding.phase() == Phase::kDone);
}

TEST_CASE("window fall-back: beams where it is cold, candidates where it is warm") {
  DecodeOptions options = patient();
  options.beam_size = 3;
  options.best_of = 2;
  options.log_prob_threshold = 1.0f;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  begin(decoding);
  say(decoding, 10);
  CHECK(decoding.request().rows.size() == 3);
  say(decoding, kEnd);
  REQUIRE(falls_back(decoding));
  say(decoding, 10);
  CHECK(decoding.request().rows.size() == 2);
}

TEST_CASE(
    "window fall-back: each candidate draws by a generator of its own, which goes on at the next "
    "temperature") {
  DecodeOptions options = two_candidates();
  options.temperature = 0.5f;
  options.temperature_increment = 0.5f;
  options.log_prob_threshold = 1.0f;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  begin(decoding);
  std::vector<std::mt19937> random{std::mt19937(0), std::mt19937(1)};
  const auto guess = [&](std::size_t candidate) {
    std::vector<double> weights(kGuesses, 1.0);
    return kFirstGuess +
           std::discrete_distribution<TokenId>(weights.begin(), weights.end())(random[candidate]);
  };
  for (const float temperature : {0.5f, 1.0f}) {
    CAPTURE(temperature);
    visit_all(decoding, unsure());
    decoding.advance();
    for (std::size_t i = 0; i < 2; ++i) CHECK(decoding.request().rows[i].token == guess(i));
    say(decoding, kEnd);
    // A number for the end of text, too.
    for (std::size_t i = 0; i < 2; ++i) guess(i);
  }
  CHECK(decoding.phase() == Phase::kDone);
}

TEST_CASE("window fall-back: of the candidates the likeliest on average, and the first of equal ones") {
  for (const bool is_second_sure : {true, false}) {
    WindowDecoding decoding(kModel, two_candidates(), {}, 10 * kSecond);
    begin(decoding);
    say(decoding, 10);
    say_each(decoding, {is_second_sure ? unsure() : certain(10), certain(11)});
    say(decoding, kEnd);
    REQUIRE(decoding.phase() == Phase::kDone);
    const WindowResult result = result_of(decoding);
    REQUIRE(result.segments.size() == 1);
    CHECK(result.segments[0].text == (is_second_sure ? " Hello there" : " Hello Hello"));
  }
}

TEST_CASE("window fall-back: where every text fails, the one that was the best at the temperature before") {
  DecodeOptions options = two_candidates();
  options.temperature = 0.5f;
  options.temperature_increment = 0.5f;
  options.log_prob_threshold = 1.0f;
  WindowDecoding decoding(kModel, options, {}, 30 * kSecond);
  begin(decoding);
  say(decoding, 10);
  say_each(decoding, {unsure(), certain(10)});
  say(decoding, kEnd);
  REQUIRE(falls_back(decoding));
  fail_both(decoding);
  const WindowResult result = result_of(decoding);
  REQUIRE(!result.segments.empty());
  CHECK(result.segments[0].tokens[1].id == 11);
}

TEST_CASE("window fall-back: a pass in which every text fails knows nothing of the pass before") {
  WindowDecoding decoding(kModel, two_candidates(), {}, 30 * kSecond);
  begin(decoding);
  say(decoding, 10);
  say_each(decoding, {unsure(), certain(11)});
  for (const TokenId id : {kTime + 200, kTime + 200, kEnd}) say(decoding, id);
  CHECK(decoding.seek() == 400);
  begin(decoding);
  fail_both(decoding);
  const WindowResult result = result_of(decoding);
  REQUIRE(result.segments.size() == 2);
  CHECK(result.segments[0].text == " Hello there");
  CHECK(result.segments[1].tokens[1].id == 10);
}

TEST_CASE("window fall-back: a text that its limit of tokens cut off says nothing of what follows") {
  DecodeOptions options = cold("en");
  options.max_tokens = 2;
  WindowDecoding decoding(kModel, options, {}, 20 * kSecond);
  begin(decoding);
  for (const TokenId id : {10, 11, kTime + 100}) say(decoding, id);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 200);
}

TEST_CASE("window fall-back: a text has 220 tokens at most") {
  WindowDecoding decoding(kModel, cold("en"), {}, 30 * kSecond);
  begin(decoding);
  int steps = 0;
  for (; decoding.phase() == Phase::kDecode; ++steps) say(decoding, of_two(static_cast<unsigned>(steps)));
  CHECK(steps == 220);
}

}  // namespace
}  // namespace verbatim::whisper
