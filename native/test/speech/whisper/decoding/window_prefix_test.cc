#include "speech/whisper/decoding/window_prefix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "speech/support.h"
#include "speech/whisper/decoding/scripted_decodings.h"
#include "speech/whisper/windows/window_by_hand.h"
#include "speech/whisper_cpp/model.h"

// Texts that begin with a given text.
namespace verbatim::whisper {
namespace {

using test::ScriptedResult;
using test::ScriptedWhisperCpp;
using test::ScriptedWindow;
using Tokens = std::vector<TokenId>;

const Vocabulary& vocabulary() { return test::bundled_model()->vocabulary(); }

std::string text_of(const Tokens& tokens) {
  std::string text;
  for (const TokenId token : tokens) {
    if (vocabulary().special().is_text(token)) text += vocabulary().text(token);
  }
  return text;
}

// All decoded tokens but the end of text.
Tokens tokens_of(const ScriptedResult& result, const SpecialTokens& special, bool stamps) {
  Tokens tokens;
  for (const DecodedSegment& segment : result.segments) {
    if (stamps && segment.opening >= 0) tokens.push_back(segment.opening);
    for (const DecodedToken& token : segment.tokens) {
      if (special.is_text(token.id) || (stamps && special.is_time_stamp(token.id))) tokens.push_back(token.id);
    }
  }
  return tokens;
}

bool begins_with(const Tokens& all, const Tokens& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

ScriptedWindow random_window(std::mt19937& random) {
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  ScriptedWindow window;
  window.seed = random();
  window.length = 11 + below(below(2) == 0 ? 300 : 2989);
  window.options.language = "en";
  window.style.pool = below(3) == 0 ? 5 + below(5) : 2000;
  window.style.end_of_text = below(4) == 0 ? 0.01f : 0.1f;
  window.style.time_stamps = 0.1f * static_cast<float>(below(6));
  window.style.no_speech = 0.1f * static_cast<float>(below(8));
  window.options.temperature_increment = below(2) == 0 ? 0.0f : 0.4f;
  window.options.log_prob_threshold = -0.5f * static_cast<float>(below(4));
  if (below(4) == 0) window.options.beam_size = 3;
  return window;
}

}  // namespace

TEST_CASE("prefix: the tokens of an earlier decoding are taken as far as they spell the text") {
  const TokenId stamp = vocabulary().special().first_time_stamp;
  const Tokens words = vocabulary().tokenize(" Hello Emma, this is Laura.");
  REQUIRE(words.size() > 4);
  Tokens decoded = {stamp};
  decoded.insert(decoded.end(), words.begin(), words.begin() + 3);
  decoded.insert(decoded.end(), {stamp + 40, stamp + 41});
  decoded.insert(decoded.end(), words.begin() + 3, words.end());
  decoded.push_back(stamp + 90);
  Tokens whole = decoded;
  whole.pop_back();
  CHECK(prefix_tokens({" Hello Emma, this is Laura.", decoded}, vocabulary()) == whole);
  const std::string three = text_of({words.begin(), words.begin() + 3});
  CHECK(prefix_tokens({three, decoded}, vocabulary()) == Tokens(decoded.begin(), decoded.begin() + 4));
  // Without them, and where they say something else.
  Tokens fresh = {stamp};
  fresh.insert(fresh.end(), words.begin(), words.end());
  CHECK(prefix_tokens({" Hello Emma, this is Laura.", {}}, vocabulary()) == fresh);
  CHECK(text_of(prefix_tokens({" Hello you", decoded}, vocabulary())) == " Hello you");
  CHECK(text_of(prefix_tokens({" H\xc3\xa9llo \xe4\xb8\x96", decoded}, vocabulary())) == " H\xc3\xa9llo \xe4\xb8\x96");
  CHECK(prefix_tokens({}, vocabulary()).empty());
  CHECK(prefix_tokens({"", decoded}, vocabulary()).empty());
}

TEST_CASE("prefix: a cut of the text inside of a token") {
  const Tokens words = vocabulary().tokenize(" Hello there");
  const std::string all = text_of(words);
  for (std::size_t length = 1; length <= all.size(); ++length) {
    CHECK(text_of(prefix_tokens({all.substr(0, length), words}, vocabulary())) == all.substr(0, length));
  }
}

TEST_CASE("prefix: random decodings begin with it, however they are cut") {
  for (const auto& [size, layers] : {std::pair{51865, 1}, {51864, 1}, {51865, 2}}) {
    const ScriptedWhisperCpp reference(size, layers);
    const SpecialTokens special = reference.model().tokens;
    std::mt19937 random(7);
    int with_stamps = 0;
    int free_text = 0;
    for (int i = 0; i < 30; ++i) {
      ScriptedWindow window = random_window(random);
      const Tokens before = tokens_of(test::run_window_decoding(reference, window), special, true);
      if (before.empty()) continue;
      // Another window, to whose audio the text may not belong at all; the prefix may end anywhere.
      ScriptedWindow other = random() % 2 == 0 ? window : random_window(random);
      const std::size_t most = std::min<std::size_t>(before.size(), 200);
      other.prefix.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(1 + random() % most));
      Tokens text = other.prefix;
      std::erase_if(text, [&](TokenId token) { return !special.is_text(token); });
      with_stamps += text.size() + 1 < other.prefix.size() ? 1 : 0;
      const ScriptedResult result = test::run_window_decoding(reference, other);
      const Tokens decoded = tokens_of(result, special, false);
      CHECK(begins_with(decoded, text));
      free_text += decoded.size() > text.size() ? 1 : 0;
    }
    CHECK(free_text > 8);
    if (reference.model().time_stamps) CHECK(with_stamps > 0);
  }
}

TEST_CASE("prefix: what a decoding wrote itself, given to it, changes nothing") {
  const ScriptedWhisperCpp reference(51865, 1);
  const SpecialTokens special = reference.model().tokens;
  std::mt19937 random(8);
  int compared = 0;
  for (int i = 0; i < 50; ++i) {
    ScriptedWindow window = random_window(random);
    window.options.temperature_increment = 0.0f;
    window.options.beam_size = 1;
    const ScriptedResult expected = test::run_window_decoding(reference, window);
    if (expected.passes != 1 || expected.segments.empty()) continue;
    const Tokens whole = tokens_of(expected, special, true);
    for (int cut = 0; cut < 4; ++cut) {
      const std::size_t length = 1 + random() % std::min<std::size_t>(whole.size(), 200);
      // As prefix_tokens() cuts: the last token is text.
      if (!special.is_text(whole[length - 1])) continue;
      window.prefix.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      const ScriptedResult actual = test::run_window_decoding(reference, window);
      CHECK(tokens_of(actual, special, true) == whole);
      REQUIRE(actual.segments.size() == expected.segments.size());
      for (std::size_t s = 0; s < actual.segments.size(); ++s) {
        CHECK(actual.segments[s].start == expected.segments[s].start);
        CHECK(actual.segments[s].end == expected.segments[s].end);
        for (std::size_t t = 0; t < actual.segments[s].tokens.size(); ++t) {
          CHECK(actual.segments[s].tokens[t].log_probability == expected.segments[s].tokens[t].log_probability);
        }
      }
      ++compared;
    }
  }
  CHECK(compared > 20);
}

TEST_CASE("prefix: it is requested behind the prompt, with logits, and once more at each temperature") {
  DecodeOptions options = cold("de");
  options.temperature_increment = 0.5f;
  options.log_prob_threshold = 0.0f;  // no text is good enough
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond, {kTime, 10, 11});
  decoding.encoded();
  const auto tokens = [&] {
    Tokens all;
    for (const DecodingRow& row : decoding.request().rows) all.push_back(row.token);
    return all;
  };
  const Tokens prompt = {kStart, kModel.tokens.language(2), kModel.tokens.transcribe, kTime, 10, 11};
  CHECK(tokens() == prompt);
  for (std::size_t row = 2; row < prompt.size(); ++row) CHECK(decoding.request().rows[row].wants_logits);
  decode(decoding, kTime + 100);
  CHECK(tokens() == Tokens{kTime + 100});
  decode(decoding, kEnd);
  CHECK(tokens() == prompt);
}

TEST_CASE("prefix: text behind the last time stamp begins the next pass") {
  WindowDecoding decoding(kModel, cold("en"), {}, 10 * kSecond, {kTime, 10, kTime + 100, kTime + 100, 11});
  decoding.encoded();
  decode(decoding, kEnd);
  REQUIRE(decoding.phase() == WindowDecoding::Phase::kEncode);
  CHECK(decoding.seek() == 200);
  REQUIRE(decoding.segments().size() == 1);
  decoding.encoded();
  const auto& rows = decoding.request().rows;
  CHECK(rows[rows.size() - 2].token == kTime);
  CHECK(rows.back().token == 11);
  decode(decoding, kTime + 400);
  CHECK(decoding.phase() == WindowDecoding::Phase::kDone);
  const WindowResult result = result_of(decoding);
  REQUIRE(result.segments.size() == 2);
  CHECK(result.segments[1].text == " there");
  CHECK(result.segments[1].start_seconds == doctest::Approx(2.0));
  CHECK(result.segments[1].end_seconds == doctest::Approx(10.0));
}

TEST_CASE("prefix: it is the text of a window that is too short, silent or not decoded any further") {
  WindowDecoding shortest(kModel, cold("en"), {}, 1000, {kTime, 10, 11});
  CHECK(shortest.phase() == WindowDecoding::Phase::kDone);
  REQUIRE(shortest.segments().size() == 1);
  CHECK(result_of(shortest).segments[0].text == " Hello there");

  DecodeOptions options = cold("en");
  options.no_speech_threshold = -1.0f;
  options.log_prob_threshold = 1.0f;
  WindowDecoding silent(kModel, options, {}, 3 * kSecond, {kTime, 10});
  silent.encoded();
  decode(silent, kTime + 150);
  REQUIRE(silent.segments().size() == 1);
  CHECK(result_of(silent).segments[0].text == " Hello");
}

}  // namespace verbatim::whisper
