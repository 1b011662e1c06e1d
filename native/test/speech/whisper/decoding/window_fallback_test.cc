#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "speech/whisper/windows/window_by_hand.h"

// Which text of a pass is taken, when a higher temperature is tried, and where the window continues, on hand-written
// logits.
namespace verbatim::whisper {
namespace {

using Phase = WindowDecoding::Phase;
constexpr std::size_t kNewText = DecodingRequest::kNewText;

// Text tokens that are all equally likely: each has log probability -6.
constexpr TokenId kFirstGuess = 1000;
constexpr int kGuesses = 400;
std::vector<float> unsure() {
  std::vector<float> logits(static_cast<std::size_t>(kModel.tokens.vocabulary), -100.0f);
  std::fill_n(logits.begin() + kFirstGuess, kGuesses, 0.0f);
  return logits;
}

// One list of logits for each row.
void decode_each(WindowDecoding& decoding, const std::vector<std::vector<float>>& logits) {
  REQUIRE(decoding.request().rows.size() == logits.size());
  for (std::size_t row = 0; row < logits.size(); ++row) {
    std::vector<float> copy = logits[row];
    decoding.on_logits(row, copy);
  }
  decoding.advance();
}

void begin(WindowDecoding& decoding) {
  REQUIRE(decoding.phase() == Phase::kEncode);
  decoding.encoded();
}

// Two candidates at one temperature, without fall-back.
DecodeOptions two_candidates() {
  DecodeOptions options = cold("en");
  options.temperature = 1.0f;
  options.best_of = 2;
  return options;
}

// A fall-back from 0 to 1, with one candidate there. Only what the test makes fail fails.
DecodeOptions one_fallback() {
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

// Two tokens in Thue-Morse order, which repeats nothing three times in a row.
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
    for (int i = 0; i < 16; ++i) decode(decoding, 10);
    decode(decoding, kEnd);
    if (increment == 0.0f) {
      CHECK(decoding.phase() == Phase::kDone);
      CHECK(result_of(decoding).segments.size() == 1);
      continue;
    }
    REQUIRE(decoding.phase() == Phase::kDecode);
    CHECK(decoding.request().parents == std::vector{kNewText});
    decode(decoding, 11);
    decode(decoding, kEnd);
    const WindowResult result = result_of(decoding);
    CHECK(result.segments[0].text == " there");
    CHECK(result.timings.fallbacks == 1);
    CHECK(result.timings.tokens == 19);
  }
}

TEST_CASE("window fall-back: a window is silent if no speech is likely and the text is unlikely") {
  const auto segments = [](float log_prob_threshold) {
    DecodeOptions options = cold("en");
    options.log_prob_threshold = log_prob_threshold;
    WindowDecoding decoding(kModel, options, {}, 5 * kSecond);
    decoding.encoded();
    std::vector<float> start = certain(kModel.tokens.no_speech);
    std::vector<float> text = certain(10);
    decoding.on_logits(0, start);
    decoding.on_logits(2, text);
    decoding.advance();
    decode(decoding, kEnd);
    return result_of(decoding).segments;
  };
  CHECK(segments(1.0f).empty());
  REQUIRE(segments(-1.0f).size() == 1);
  CHECK(segments(-1.0f)[0].no_speech_probability == doctest::Approx(1.0));
}

// Two texts of few, repeating tokens that differ in their second token: 10 and 11.
void fail_both(WindowDecoding& decoding) {
  decode(decoding, 10);
  decode_each(decoding, {certain(10), certain(11)});
  for (unsigned i = 0; i < 33; ++i) decode(decoding, of_two(i));
  decode(decoding, kEnd);
}

TEST_CASE("window fall-back: a text of more than 32 tokens that repeats a few of them fails") {
  for (const unsigned length : {32u, 33u}) {
    CAPTURE(length);
    DecodeOptions options = one_fallback();
    options.entropy_threshold = 2.4f;
    WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
    begin(decoding);
    for (unsigned i = 0; i + 1 < length; ++i) decode(decoding, of_two(i));
    decode(decoding, kEnd);
    CHECK(falls_back(decoding) == (length == 33));
    CHECK((decoding.phase() == Phase::kDone) == (length == 32));
  }
}

TEST_CASE("window fall-back: an unlikely text fails, unless no speech is likely") {
  for (const bool is_speech : {true, false}) {
    CAPTURE(is_speech);
    DecodeOptions options = one_fallback();
    options.log_prob_threshold = -1.0f;
    WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
    begin(decoding);
    std::vector<float> start = certain(is_speech ? 10 : kModel.tokens.no_speech);
    std::vector<float> text = unsure();
    decoding.on_logits(0, start);
    decoding.on_logits(2, text);
    decoding.advance();
    decode(decoding, kEnd);
    CHECK(falls_back(decoding) == is_speech);
  }
}

TEST_CASE("window fall-back: a likely text is taken without another temperature") {
  DecodeOptions options = one_fallback();
  options.log_prob_threshold = -1.0f;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  begin(decoding);
  decode(decoding, 10);
  decode(decoding, kEnd);
  CHECK(decoding.phase() == Phase::kDone);
}

TEST_CASE("window fall-back: beams at temperature 0, candidates above") {
  DecodeOptions options = one_fallback();
  options.beam_size = 3;
  options.best_of = 2;
  options.log_prob_threshold = 1.0f;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  begin(decoding);
  decode(decoding, 10);
  CHECK(decoding.request().rows.size() == 3);
  decode(decoding, kEnd);
  REQUIRE(falls_back(decoding));
  decode(decoding, 10);
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
    return kFirstGuess + std::discrete_distribution<TokenId>(weights.begin(), weights.end())(random[candidate]);
  };
  for (const float temperature : {0.5f, 1.0f}) {
    CAPTURE(temperature);
    decode_all(decoding, unsure());
    decoding.advance();
    for (std::size_t i = 0; i < 2; ++i) CHECK(decoding.request().rows[i].token == guess(i));
    decode(decoding, kEnd);
    // The end of text consumes a random number too.
    for (std::size_t i = 0; i < 2; ++i) guess(i);
  }
  CHECK(decoding.phase() == Phase::kDone);
}

TEST_CASE("window fall-back: the likeliest candidate on average is taken, and the first among equals") {
  for (const bool is_second_sure : {true, false}) {
    WindowDecoding decoding(kModel, two_candidates(), {}, 10 * kSecond);
    begin(decoding);
    decode(decoding, 10);
    decode_each(decoding, {is_second_sure ? unsure() : certain(10), certain(11)});
    decode(decoding, kEnd);
    REQUIRE(decoding.phase() == Phase::kDone);
    const WindowResult result = result_of(decoding);
    REQUIRE(result.segments.size() == 1);
    CHECK(result.segments[0].text == (is_second_sure ? " Hello there" : " Hello Hello"));
  }
}

TEST_CASE("window fall-back: where every text fails, the best index of the temperature before is taken") {
  DecodeOptions options = two_candidates();
  options.temperature = 0.5f;
  options.temperature_increment = 0.5f;
  options.log_prob_threshold = 1.0f;
  WindowDecoding decoding(kModel, options, {}, 30 * kSecond);
  begin(decoding);
  decode(decoding, 10);
  decode_each(decoding, {unsure(), certain(10)});
  decode(decoding, kEnd);
  REQUIRE(falls_back(decoding));
  fail_both(decoding);
  const WindowResult result = result_of(decoding);
  REQUIRE(!result.segments.empty());
  CHECK(result.segments[0].tokens[1].id == 11);
}

TEST_CASE("window fall-back: a pass in which every text fails has no text of the pass before") {
  WindowDecoding decoding(kModel, two_candidates(), {}, 30 * kSecond);
  begin(decoding);
  decode(decoding, 10);
  decode_each(decoding, {unsure(), certain(11)});
  for (const TokenId id : {kTime + 200, kTime + 200, kEnd}) decode(decoding, id);
  CHECK(decoding.seek() == 400);
  begin(decoding);
  fail_both(decoding);
  const WindowResult result = result_of(decoding);
  REQUIRE(result.segments.size() == 2);
  CHECK(result.segments[0].text == " Hello there");
  CHECK(result.segments[1].tokens[1].id == 10);
}

TEST_CASE("window fall-back: a text that the limit of tokens cut off does not end the window") {
  DecodeOptions options = cold("en");
  options.max_tokens = 2;
  WindowDecoding decoding(kModel, options, {}, 20 * kSecond);
  begin(decoding);
  for (const TokenId id : {10, 11, kTime + 100}) decode(decoding, id);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 200);
}

TEST_CASE("window fall-back: a text has 220 tokens at most") {
  WindowDecoding decoding(kModel, cold("en"), {}, 30 * kSecond);
  begin(decoding);
  int steps = 0;
  for (; decoding.phase() == Phase::kDecode; ++steps) decode(decoding, of_two(static_cast<unsigned>(steps)));
  CHECK(steps == 220);
}

}  // namespace
}  // namespace verbatim::whisper
