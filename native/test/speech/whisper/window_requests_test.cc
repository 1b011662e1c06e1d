#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "speech/whisper/window_by_hand.h"

// What the machine asks for, and what it makes of it, told by hand.
namespace verbatim::whisper {
namespace {

using Phase = WindowDecoding::Phase;
using Rows = std::vector<DecodingRow>;
constexpr std::size_t kNewText = DecodingRequest::kNewText;

void check_rows(const WindowDecoding& decoding, const Rows& expected) {
  const Rows& rows = decoding.request().rows;
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i].token == expected[i].token);
    CHECK(rows[i].history == expected[i].history);
    CHECK(rows[i].wants_logits == expected[i].wants_logits);
  }
}

TEST_CASE("window requests: a language that is given is asked for in the first step") {
  WindowDecoding decoding(kModel, cold("de"), {}, 10 * kSecond);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 0);
  decoding.encoded();
  REQUIRE(decoding.phase() == Phase::kDecode);
  CHECK(decoding.request().parents == std::vector{kNewText});
  check_rows(decoding, {{kStart, 0, true}, {kStart + 3, 0, false}, {kModel.tokens.transcribe, 0, true}});
  say(decoding, 10);
  CHECK(decoding.request().parents == std::vector<std::size_t>{0});
  check_rows(decoding, {{10, 0, true}});
  say(decoding, kEnd);
  REQUIRE(decoding.phase() == Phase::kDone);
  const WindowResult result = result_of(decoding);
  CHECK(result.language == "de");
  CHECK(result.language_probabilities.empty());
  REQUIRE(result.segments.size() == 1);
  CHECK(result.segments[0].text == " Hello");
  CHECK(result.timings.tokens == 2);
  CHECK(result.timings.encoder_passes == 1);
}

TEST_CASE("window requests: a language to be detected is known before the prompt goes on") {
  DecodeOptions options = cold("auto");
  options.task = SpeechTask::kTranslate;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  decoding.encoded();
  check_rows(decoding, {{kStart, 0, true}});
  std::vector<float> logits = certain(10);
  logits[static_cast<std::size_t>(kModel.tokens.language(3))] = 3.0f;
  visit_all(decoding, logits);
  decoding.advance();
  CHECK(decoding.request().parents == std::vector<std::size_t>{0});
  check_rows(decoding, {{kModel.tokens.language(3), 0, false}, {kModel.tokens.translate, 0, true}});
  say(decoding, kTime + 10);
  say(decoding, 10);
  // The second pass knows it.
  say(decoding, kTime + 200);
  say(decoding, kTime + 200);
  say(decoding, kEnd);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 400);
  decoding.encoded();
  CHECK(decoding.request().rows.back().token == kModel.tokens.translate);
  say(decoding, 11);
  say(decoding, kEnd);
  REQUIRE(decoding.phase() == Phase::kDone);
  const WindowResult result = result_of(decoding);
  CHECK(result.language == "es");
  REQUIRE(result.language_probabilities.size() == 4);
  CHECK(result.language_probabilities[3].first == "es");
  CHECK(result.language_probabilities[3].second == doctest::Approx(std::exp(3.0) / (std::exp(3.0) + 3.0)));
  REQUIRE(result.segments.size() == 2);
  CHECK(result.segments[0].start_seconds == doctest::Approx(0.2));
  CHECK(result.segments[0].end_seconds == doctest::Approx(4.0));
}

TEST_CASE("window requests: what was said before stands in a text of its own") {
  const std::vector<TokenId> initial = {20, 21};
  const Rows prompt = {{kStart, 0, true},
                       {kModel.tokens.start_of_previous, 1, false},
                       {20, 1, false},
                       {21, 1, false},
                       {kStart, 1, false},
                       {kModel.tokens.language(0), 1, false},
                       {kModel.tokens.transcribe, 1, true}};
  SUBCASE("in the first step, where the language is given") {
    WindowDecoding decoding(kModel, cold("en"), initial, 10 * kSecond);
    decoding.encoded();
    CHECK(decoding.request().parents == std::vector{kNewText, kNewText});
    check_rows(decoding, prompt);
    say(decoding, 10);
    CHECK(decoding.request().parents == std::vector<std::size_t>{1});
  }
  SUBCASE("in the second, where it is detected") {
    WindowDecoding decoding(kModel, cold("auto"), initial, 10 * kSecond);
    decoding.encoded();
    say(decoding, kModel.tokens.language(0));
    CHECK(decoding.request().parents == std::vector{kNewText});
    Rows alone(prompt.begin() + 1, prompt.end());
    for (DecodingRow& row : alone) row.history = 0;
    check_rows(decoding, alone);
  }
  SUBCASE("not from a temperature of 0.5 on") {
    DecodeOptions options = cold("en");
    options.temperature = 0.5f;
    WindowDecoding decoding(kModel, options, initial, 10 * kSecond);
    decoding.encoded();
    CHECK(decoding.request().rows.size() == 3);
  }
  SUBCASE("its last 223 tokens") {
    std::vector<TokenId> longer(400);
    for (std::size_t i = 0; i < longer.size(); ++i) longer[i] = static_cast<TokenId>(i);
    WindowDecoding decoding(kModel, cold("en"), longer, 10 * kSecond);
    decoding.encoded();
    REQUIRE(decoding.request().rows.size() == 1 + 1 + 223 + 3);
    CHECK(decoding.request().rows[2].token == 177);
    CHECK(decoding.request().rows[224].token == 399);
  }
}

TEST_CASE("window requests: a pass is told what the ones before it said, unless little is left") {
  const auto second_pass = [](std::size_t seconds) {
    WindowDecoding decoding(kModel, cold("en"), {20}, seconds * kSecond);
    decoding.encoded();
    for (const TokenId id : {kTime, 10, kTime + 200, kTime + 200, kEnd}) say(decoding, id);
    REQUIRE(decoding.phase() == Phase::kEncode);
    decoding.encoded();
    std::vector<TokenId> tokens;
    for (const DecodingRow& row : decoding.request().rows) tokens.push_back(row.token);
    return tokens;
  };
  const std::vector<TokenId> alone = {kStart, kModel.tokens.language(0), kModel.tokens.transcribe};
  std::vector<TokenId> told = {kStart,     kModel.tokens.start_of_previous, 20, kTime, 10, kTime + 200,
                               kTime + 200};
  told.insert(told.end(), alone.begin(), alone.end());
  CHECK(second_pass(20) == told);
  CHECK(second_pass(8) == alone);
}

TEST_CASE("window requests: an initial prompt is told to every pass, before what was said in the window") {
  std::vector<TokenId> initial(220);
  for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = static_cast<TokenId>(1000 + i);
  WindowDecoding decoding(kModel, cold("en"), initial, 30 * kSecond);
  const auto say_a_part = [&](TokenId word, int hundredths) {
    const TokenId end = kTime + hundredths / 2;
    for (const TokenId id : {kTime, word, end, end, kEnd}) say(decoding, id);
    REQUIRE(decoding.phase() == Phase::kEncode);
    decoding.encoded();
  };
  // What stands between <|startofprev|> and the second <|startoftranscript|>.
  const auto told = [&] {
    std::vector<TokenId> tokens;
    const Rows& rows = decoding.request().rows;
    for (std::size_t i = 2; i + 3 < rows.size(); ++i) tokens.push_back(rows[i].token);
    return tokens;
  };
  const auto with = [&](std::initializer_list<TokenId> said) {
    std::vector<TokenId> tokens = initial;
    tokens.insert(tokens.end(), said.begin(), said.end());
    return tokens;
  };
  decoding.encoded();
  CHECK(told() == initial);
  say_a_part(10, 800);
  // The last three of the four tokens that were said: there is room for 223.
  CHECK(told() == with({10, kTime + 400, kTime + 400}));
  say_a_part(11, 1000);
  CHECK(told() == with({11, kTime + 500, kTime + 500}));
  // Less than five seconds are left.
  say_a_part(10, 900);
  CHECK(told().empty());
}

TEST_CASE("window requests: a model for English only has nothing to say of languages") {
  const DecodingModel english = model_of(51864);
  WindowDecoding decoding(english, cold("auto"), {}, 10 * kSecond);
  decoding.encoded();
  check_rows(decoding, {{english.tokens.start_of_transcript, 0, true}});
  say(decoding, 10, english);
  say(decoding, english.tokens.end_of_text, english);
  const WindowResult result = result_of(decoding);
  CHECK(result.language_probabilities == std::vector{std::pair(std::string("en"), 1.0f)});
  CHECK(result.segments.size() == 1);
}

TEST_CASE("window requests: a model without time stamps is told so") {
  const DecodingModel distilled = model_of(51865, false);
  WindowDecoding decoding(distilled, cold("en"), {}, 10 * kSecond);
  decoding.encoded();
  CHECK(decoding.request().rows.back().token == distilled.tokens.no_time_stamps);
  say(decoding, kTime + 4);
  // No time stamp may come, so the lowest of the equal rest does.
  CHECK(decoding.request().rows[0].token == 0);
}

TEST_CASE("window requests: beams go on from the history that they have") {
  DecodeOptions options = cold("en");
  options.beam_size = 3;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  decoding.encoded();
  say(decoding, 10);
  CHECK(decoding.request().parents == std::vector<std::size_t>{0, 0, 0});
  CHECK(decoding.request().rows.size() == 3);
  // The second's token is by far the likeliest, so all three go on from it.
  for (std::size_t row = 0; row < 3; ++row) {
    std::vector<float> logits(static_cast<std::size_t>(kModel.tokens.vocabulary), -30.0f);
    if (row == 1) {
      logits[11] = 30.0f;
    } else {
      for (TokenId id = 100; id < 1100; ++id) logits[static_cast<std::size_t>(id)] = 1.0f;
    }
    decoding.visit(row, logits);
  }
  decoding.advance();
  CHECK(decoding.request().parents[0] == 1);
  check_rows(decoding, {{11, 0, true},
                        {decoding.request().rows[1].token, 1, true},
                        {decoding.request().rows[2].token, 2, true}});
}

TEST_CASE("window result: valid text, times within the window, text tokens only") {
  WindowDecoding decoding(kModel, cold("en"), {}, 2 * kSecond);
  decoding.encoded();
  for (const TokenId id : {kTime + 50, 12, 13, 12, kTime + 60, kTime + 60, 14, kTime + 70, kTime + 70, 15}) {
    say(decoding, id);
  }
  say(decoding, kTime + 1400);
  REQUIRE(decoding.phase() == Phase::kDone);
  CHECK(decoding.segments().size() == 3);
  const WindowResult result = result_of(decoding);
  REQUIRE(result.segments.size() == 2);
  // Half a character at the end is left out; the segment without a byte, too.
  CHECK(result.segments[0].text == "é");
  CHECK(result.segments[0].tokens.size() == 3);
  CHECK(result.segments[0].start_seconds == doctest::Approx(1.0));
  CHECK(result.segments[0].end_seconds == doctest::Approx(1.2));
  CHECK(result.segments[1].end_seconds == doctest::Approx(2.0));
  // Blanks are not scored: three tokens and the time stamp behind them are.
  CHECK(result.scored_tokens == 4);
  CHECK(*result.average_log_probability <= 0.0);
}

TEST_CASE("window requests: a single time stamp at the end says that nothing follows") {
  WindowDecoding decoding(kModel, cold("en"), {}, 20 * kSecond);
  decoding.encoded();
  for (const TokenId id : {kTime, 10, kTime + 200, kEnd}) say(decoding, id);
  CHECK(decoding.phase() == Phase::kDone);
  CHECK(decoding.seek() == 1999);
}

TEST_CASE("window requests: too short a window is done at once") {
  WindowDecoding shortest(kModel, cold("de"), {}, 1799);
  REQUIRE(shortest.phase() == Phase::kDone);
  const WindowResult result = result_of(shortest);
  CHECK(result.language == "de");
  CHECK(result.segments.empty());
  CHECK(result.timings.encoder_passes == 0);
  CHECK(WindowDecoding(kModel, cold("de"), {}, 1800).phase() == Phase::kEncode);
}

TEST_CASE("window requests: passes are bounded by four and one for each two seconds") {
  WindowDecoding decoding(kModel, cold("en"), {}, 10 * kSecond);
  int passes = 0;
  while (decoding.phase() != Phase::kDone) {
    decoding.encoded();
    ++passes;
    // A few hundredths further each time.
    for (const TokenId id : {kTime, 10, kTime + 2, kTime + 2, kEnd}) say(decoding, id);
  }
  CHECK(passes == 9);
}

}  // namespace
}  // namespace verbatim::whisper
