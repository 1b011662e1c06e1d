#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "error.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "speech/whisper/small_models.h"
#include "speech/whisper_cpp/slot.h"
#include "testing/window_runner.h"

// DecodeOptions::prefix on whole models.
namespace verbatim {
namespace {

using test::WindowRunner;

std::string joined(const WindowResult& result) {
  std::string text;
  for (const Segment& segment : result.segments) text += segment.text;
  return text;
}

std::vector<int> described_tokens(const WindowResult& result) {
  std::vector<int> tokens;
  for (const Segment& segment : result.segments) {
    REQUIRE(segment.decoding);
    if (segment.decoding->opening >= 0) tokens.push_back(segment.decoding->opening);
    tokens.insert(tokens.end(), segment.decoding->tokens.begin(), segment.decoding->tokens.end());
  }
  return tokens;
}

std::shared_ptr<const Window> beginning_of(const Window& window, double share) {
  auto part = std::make_shared<Window>(window);
  part->samples.resize(static_cast<std::size_t>(share * static_cast<double>(window.samples.size())));
  return part;
}

DecodeOptions described() {
  DecodeOptions options = test::own_length();
  options.language = "en";
  options.describe = true;
  return options;
}

// Cut at the end of any character.
std::string cut(const std::string& text, std::mt19937& random) {
  std::size_t length = text.empty() ? 0 : 1 + random() % text.size();
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return text.substr(0, length);
}

}  // namespace

TEST_CASE("prefix: clips decoded behind the words of their beginning") {
  const auto recogniser = load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, "auto");
  WindowRunner runner(*recogniser, {});
  int checked = 0;
  for (const test::Clip& clip : test::sentences()) {
    if (clip.language != "en" || ++checked > 4) continue;
    const auto whole = std::make_shared<const Window>(test::window_of(clip.file));
    DecodeOptions options = described();
    const std::string text = joined(runner.transcribe(whole, options));
    const WindowResult half = runner.transcribe(beginning_of(*whole, 0.6), options);
    const std::string begun = joined(half);
    // Its last word may have been cut in two.
    options.prefix = {begun.substr(0, begun.rfind(' ')), described_tokens(half)};
    const WindowResult result = runner.transcribe(whole, options);
    CHECK(joined(result).starts_with(options.prefix.text));
    CHECK(test::word_errors(text, joined(result)) <= test::words_of(text).size() / 3);
    // Its own words do not change the rest.
    const WindowResult plain = runner.transcribe(whole, described());
    options.prefix = {text.substr(0, text.rfind(' ')), described_tokens(plain)};
    options.align = true;
    const WindowResult again = runner.transcribe(whole, options);
    CHECK(joined(again) == text);
    for (const Segment& segment : again.segments) CHECK(!segment.words.empty());
  }
  CHECK(checked > 0);
}

TEST_CASE("prefix: random models write behind any text") {
  const test::SmallModel file;
  const auto recogniser = load_recogniser(file.path(), "cpu", AcceleratorMode::kAuto, "auto");
  WindowRunner runner(*recogniser, {});
  const Window& speech = test::window_of(test::clips().front().file);
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    DecodeOptions options = described();
    options.align = i % 2 == 0;
    const WindowResult before = runner.transcribe(beginning_of(speech, 0.2 + 0.1 * i), options);
    const std::string text = joined(before);
    if (text.empty() || before.segments.front().tokens.size() > 190) continue;
    options.prefix = {cut(text, random), i % 3 == 0 ? std::vector<int>() : described_tokens(before)};
    const double share = i % 4 == 3 ? 0.001 : 1.0;
    const WindowResult result = runner.transcribe(beginning_of(speech, share), options);
    CHECK(joined(result).starts_with(options.prefix.text));
  }
}

TEST_CASE("prefix: is refused where it is too long, and by decoders that take none") {
  const auto recogniser = load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, "auto");
  CHECK(recogniser->info().abilities.takes_prefix);
  CHECK(!test::bundled_model()->info().abilities.takes_prefix);
  const auto window = std::make_shared<const Window>(test::silence(1.0));
  const auto refusal = [&](const std::string& text) -> std::string {
    DecodeOptions options = described();
    options.prefix.text = text;
    try {
      recogniser->open(window, options);
    } catch (const EngineError& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "nothing was refused";
  };
  std::string words;
  for (int i = 0; i < 201; ++i) words += " a";
  // With the first time stamp.
  CHECK(refusal(words).find("202 tokens, allowed: at most 200") != std::string::npos);
  CHECK(refusal(std::string(4097, 'a')).find("4097 bytes long") != std::string::npos);

  Slot slot(test::bundled_model(), 1);
  DecodeOptions options = described();
  options.prefix.text = " Hello";
  CHECK_THROWS_AS(slot.transcribe(*window, options, nullptr), EngineError);
}

}  // namespace verbatim
