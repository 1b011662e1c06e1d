#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "speech/whisper/windows/window_by_hand.h"

// The requests of a WindowDecoding and its results, on chosen tokens.
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

TEST_CASE("window requests: a given language is in the first step's prompt") {
  WindowDecoding decoding(kModel, cold("de"), {}, 10 * kSecond);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 0);
  decoding.encoded();
  REQUIRE(decoding.phase() == Phase::kDecode);
  CHECK(decoding.request().parents == std::vector{kNewText});
  check_rows(decoding, {{kStart, 0, true}, {kStart + 3, 0, false}, {kModel.tokens.transcribe, 0, true}});
  decode(decoding, 10);
  CHECK(decoding.request().parents == std::vector<std::size_t>{0});
  check_rows(decoding, {{10, 0, true}});
  decode(decoding, kEnd);
  REQUIRE(decoding.phase() == Phase::kDone);
  const WindowResult result = result_of(decoding);
  CHECK(result.language == "de");
  CHECK(result.language_probabilities.empty());
  REQUIRE(result.segments.size() == 1);
  CHECK(result.segments[0].text == " Hello");
  CHECK(result.timings.tokens == 2);
  CHECK(result.timings.encoder_passes == 1);
}

TEST_CASE("window requests: a language to be detected is known before the prompt continues") {
  DecodeOptions options = cold("auto");
  options.task = SpeechTask::kTranslate;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  decoding.encoded();
  check_rows(decoding, {{kStart, 0, true}});
  std::vector<float> logits = certain(10);
  logits[static_cast<std::size_t>(kModel.tokens.language(3))] = 3.0f;
  decode_all(decoding, logits);
  decoding.advance();
  CHECK(decoding.request().parents == std::vector<std::size_t>{0});
  check_rows(decoding, {{kModel.tokens.language(3), 0, false}, {kModel.tokens.translate, 0, true}});
  decode(decoding, kTime + 10);
  decode(decoding, 10);
  // The language is known in the second pass.
  decode(decoding, kTime + 200);
  decode(decoding, kTime + 200);
  decode(decoding, kEnd);
  REQUIRE(decoding.phase() == Phase::kEncode);
  CHECK(decoding.seek() == 400);
  decoding.encoded();
  CHECK(decoding.request().rows.back().token == kModel.tokens.translate);
  decode(decoding, 11);
  decode(decoding, kEnd);
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

TEST_CASE("window requests: an initial prompt has a history of its own") {
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
    decode(decoding, 10);
    CHECK(decoding.request().parents == std::vector<std::size_t>{1});
  }
  SUBCASE("in the second, where it is detected") {
    WindowDecoding decoding(kModel, cold("auto"), initial, 10 * kSecond);
    decoding.encoded();
    decode(decoding, kModel.tokens.language(0));
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

TEST_CASE("window requests: a pass gets the text of the passes before it, unless little is left") {
  const auto second_pass = [](std::size_t seconds) {
    WindowDecoding decoding(kModel, cold("en"), {20}, seconds * kSecond);
    decoding.encoded();
    for (const TokenId id : {kTime, 10, kTime + 200, kTime + 200, kEnd}) decode(decoding, id);
    REQUIRE(decoding.phase() == Phase::kEncode);
    decoding.encoded();
    std::vector<TokenId> tokens;
    for (const DecodingRow& row : decoding.request().rows) tokens.push_back(row.token);
    return tokens;
  };
  const std::vector<TokenId> alone = {kStart, kModel.tokens.language(0), kModel.tokens.transcribe};
  std::vector<TokenId> earlier_text = {kStart,     kModel.tokens.start_of_previous, 20, kTime, 10, kTime + 200,
                                       kTime + 200};
  earlier_text.insert(earlier_text.end(), alone.begin(), alone.end());
  CHECK(second_pass(20) == earlier_text);
  CHECK(second_pass(8) == alone);
}

TEST_CASE("window requests: every pass gets the initial prompt, before the window's earlier text") {
  std::vector<TokenId> initial(220);
  for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = static_cast<TokenId>(1000 + i);
  WindowDecoding decoding(kModel, cold("en"), initial, 30 * kSecond);
  const auto decode_part = [&](TokenId word, int hundredths) {
    const TokenId end = kTime + hundredths / 2;
    for (const TokenId id : {kTime, word, end, end, kEnd}) decode(decoding, id);
    REQUIRE(decoding.phase() == Phase::kEncode);
    decoding.encoded();
  };
  // The tokens between <|startofprev|> and the second <|startoftranscript|>.
  const auto earlier_text = [&] {
    std::vector<TokenId> tokens;
    const Rows& rows = decoding.request().rows;
    for (std::size_t i = 2; i + 3 < rows.size(); ++i) tokens.push_back(rows[i].token);
    return tokens;
  };
  const auto with = [&](std::initializer_list<TokenId> text) {
    std::vector<TokenId> tokens = initial;
    tokens.insert(tokens.end(), text.begin(), text.end());
    return tokens;
  };
  decoding.encoded();
  CHECK(earlier_text() == initial);
  decode_part(10, 800);
  // The last three of the four decoded tokens: there is room for 223.
  CHECK(earlier_text() == with({10, kTime + 400, kTime + 400}));
  decode_part(11, 1000);
  CHECK(earlier_text() == with({11, kTime + 500, kTime + 500}));
  // Less than five seconds are left.
  decode_part(10, 900);
  CHECK(earlier_text().empty());
}

TEST_CASE("window requests: a model for English only detects no language") {
  const DecodingModel english = model_of(51864);
  WindowDecoding decoding(english, cold("auto"), {}, 10 * kSecond);
  decoding.encoded();
  check_rows(decoding, {{english.tokens.start_of_transcript, 0, true}});
  decode(decoding, 10, english);
  decode(decoding, english.tokens.end_of_text, english);
  const WindowResult result = result_of(decoding);
  CHECK(result.language_probabilities == std::vector{std::pair(std::string("en"), 1.0f)});
  CHECK(result.segments.size() == 1);
}

TEST_CASE("window requests: a model without time stamps gets the token for that") {
  const DecodingModel distilled = model_of(51865, false);
  WindowDecoding decoding(distilled, cold("en"), {}, 10 * kSecond);
  decoding.encoded();
  CHECK(decoding.request().rows.back().token == distilled.tokens.no_time_stamps);
  decode(decoding, kTime + 4);
  // No time stamp is allowed, so the lowest id of the equally likely rest comes next.
  CHECK(decoding.request().rows[0].token == 0);
}

TEST_CASE("window requests: beams continue the histories of their hypotheses") {
  DecodeOptions options = cold("en");
  options.beam_size = 3;
  WindowDecoding decoding(kModel, options, {}, 10 * kSecond);
  decoding.encoded();
  decode(decoding, 10);
  CHECK(decoding.request().parents == std::vector<std::size_t>{0, 0, 0});
  CHECK(decoding.request().rows.size() == 3);
  // The second hypothesis' token is by far the likeliest, so all three continue from it.
  for (std::size_t row = 0; row < 3; ++row) {
    std::vector<float> logits(static_cast<std::size_t>(kModel.tokens.vocabulary), -30.0f);
    if (row == 1) {
      logits[11] = 30.0f;
    } else {
      for (TokenId id = 100; id < 1100; ++id) logits[static_cast<std::size_t>(id)] = 1.0f;
    }
    decoding.on_logits(row, logits);
  }
  decoding.advance();
  CHECK(decoding.request().parents[0] == 1);
  check_rows(decoding,
             {{11, 0, true}, {decoding.request().rows[1].token, 1, true}, {decoding.request().rows[2].token, 2, true}});
}

TEST_CASE("window result: valid text, times within the window, text tokens only") {
  WindowDecoding decoding(kModel, cold("en"), {}, 2 * kSecond);
  decoding.encoded();
  for (const TokenId id : {kTime + 50, 12, 13, 12, kTime + 60, kTime + 60, 14, kTime + 70, kTime + 70, 15}) {
    decode(decoding, id);
  }
  decode(decoding, kTime + 1400);
  REQUIRE(decoding.phase() == Phase::kDone);
  CHECK(decoding.segments().size() == 3);
  const WindowResult result = result_of(decoding);
  REQUIRE(result.segments.size() == 2);
  // Half a character at the end is left out, and so is the segment without a byte.
  CHECK(result.segments[0].text == "é");
  CHECK(result.segments[0].tokens.size() == 3);
  CHECK(result.segments[0].start_seconds == doctest::Approx(1.0));
  CHECK(result.segments[0].end_seconds == doctest::Approx(1.2));
  CHECK(result.segments[1].end_seconds == doctest::Approx(2.0));
  // Blanks are not scored; three tokens and the time stamp behind them are.
  CHECK(result.scored_tokens == 4);
  CHECK(*result.average_log_probability <= 0.0);
}

TEST_CASE("window requests: a single time stamp at the end means that nothing follows") {
  WindowDecoding decoding(kModel, cold("en"), {}, 20 * kSecond);
  decoding.encoded();
  for (const TokenId id : {kTime, 10, kTime + 200, kEnd}) decode(decoding, id);
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

TEST_CASE("window requests: there are at most four passes plus one for each two seconds") {
  WindowDecoding decoding(kModel, cold("en"), {}, 10 * kSecond);
  int passes = 0;
  while (decoding.phase() != Phase::kDone) {
    decoding.encoded();
    ++passes;
    // A few hundredths of a second later each time.
    for (const TokenId id : {kTime, 10, kTime + 2, kTime + 2, kEnd}) decode(decoding, id);
  }
  CHECK(passes == 9);
}

}  // namespace
}  // namespace verbatim::whisper
