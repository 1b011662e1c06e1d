#include "speech/parakeet/slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "error.h"
#include "speech/alignment/text_words.h"
#include "speech/load_recogniser.h"
#include "speech/load_slot_model.h"
#include "speech/parakeet/reference.h"
#include "speech/parakeet/small_model.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "support/counting_abort.h"
#include "support/message_of_error.h"

namespace verbatim::parakeet {
namespace {

using test::english;
using test::noise_window;
using test::Reference;

std::string without_leading_space(const std::string& text) { return text.substr(text.starts_with(' ') ? 1 : 0); }

bool is_text(int id) { return id != 0; }

// Each word begins with its first token and ends with its last.
void check_times(const Segment& segment, std::span<const parakeet_token_data> tokens, double seconds) {
  std::vector<std::string_view> texts;
  for (const Token& token : segment.tokens) texts.push_back(token.text);
  const auto cuts = alignment::cut_words(texts, true);
  REQUIRE(cuts.size() == segment.words.size());
  const auto time = [seconds](std::int64_t hundredths) {
    return std::min(static_cast<double>(hundredths) / 100, seconds);
  };
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    CHECK(segment.words[i].start_seconds == time(tokens[cuts[i].first].t0));
    CHECK(segment.words[i].end_seconds == time(tokens[cuts[i].last - 1].t1));
  }
}

// Every text token, with its id, its probability and its times.
void check_same(const WindowResult& result, Reference& reference, const Window& window) {
  const auto expected = reference.tokens(window);
  std::vector<parakeet_token_data> text;
  std::ranges::copy_if(expected, std::back_inserter(text), [](const auto& token) { return is_text(token.id); });
  const auto found = test::tokens_of(result);
  REQUIRE(found.size() == text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CHECK(found[i].first == text[i].id);
    CHECK(found[i].second == text[i].p);
  }
  CHECK(without_leading_space(test::text_of(result)) == valid_utf8(reference.text));
  std::size_t first = 0;
  for (const Segment& segment : result.segments) {
    check_times(segment, std::span(text).subspan(first, segment.tokens.size()), window.seconds());
    first += segment.tokens.size();
  }
}

std::vector<ModelShape> shapes() {
  return {test::small_parakeet_shape(), test::small_parakeet_shape("f32"), test::small_parakeet_shape("q8_0"),
          test::parakeet_shape("parakeet-narrow"), test::parakeet_shape("parakeet-wide", "q4_k")};
}

}  // namespace

TEST_CASE("tokens and times of Parakeet are whisper.cpp's own, whatever the shape and the length") {
  DecodeOptions options = english();
  options.align = true;
  std::size_t tokens = 0;
  std::uint32_t seed = 1;
  for (const ModelShape& shape : shapes()) {
    const test::SmallParakeet file(shape, seed);
    const auto model = load_slot_model(file.path(), "cpu");
    Reference reference(file.path());
    const auto slot = model->make_slot(1);
    std::set<int> pieces;
    for (const double seconds : {0.12, 0.5, 2.0, 7.3, 1.0, 20.0}) {
      const Window window = noise_window(seconds, ++seed);
      const WindowResult result = slot->transcribe(window, options, nullptr);
      check_same(result, reference, window);
      tokens += test::tokens_of(result).size();
      for (const auto& [id, probability] : test::tokens_of(result)) pieces.insert(id);
    }
    // Otherwise the text would not depend on the audio, and the comparison would show nothing.
    CHECK(pieces.size() > 5);
  }
  CHECK(tokens > 500);
}

TEST_CASE("words of Parakeet joined are the text, in order, and have times") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  const auto slot = model->make_slot(1);
  DecodeOptions options = english();
  options.align = true;
  const Window window = noise_window(20, 5);
  const WindowResult result = slot->transcribe(window, options, nullptr);
  REQUIRE(!result.segments.empty());
  double at = 0.0;
  for (const Segment& segment : result.segments) {
    std::string text;
    for (const Word& word : segment.words) {
      text += word.text;
      CHECK(word.start_seconds >= at);
      CHECK(word.end_seconds >= word.start_seconds);
      CHECK(word.end_seconds <= window.seconds());
      CHECK(word.probability > 0.0f);
      CHECK(word.probability <= 1.0f);
      at = word.end_seconds;
    }
    CHECK(text == segment.text);
    CHECK(segment.start_seconds == segment.words.front().start_seconds);
    CHECK(segment.end_seconds == segment.words.back().end_seconds);
  }
  CHECK(at > 15.0);
  CHECK(result.language == "en");
  CHECK(result.scored_tokens > 0);
  CHECK(result.average_log_probability.value() < 0.0);
  CHECK(result.timings.encoder_passes == 1);
  CHECK(result.timings.encode_ms > 0.0);
}

TEST_CASE("Parakeet's text is the same with words and without, described and not, alone and after others") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  const auto slot = model->make_slot(2);
  const Window window = noise_window(4, 6);
  const WindowResult plain = slot->transcribe(window, english(), nullptr);
  for (const Segment& segment : plain.segments) {
    CHECK(segment.words.empty());
    CHECK(!segment.decoding);
  }
  slot->transcribe(noise_window(9, 7), english(), nullptr);
  DecodeOptions options = english();
  options.align = true;
  options.describe = true;
  const WindowResult described = slot->transcribe(window, options, nullptr);
  CHECK(test::tokens_of(described) == test::tokens_of(plain));
  REQUIRE(described.segments.size() == plain.segments.size());
  double sum = 0.0;
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < described.segments.size(); ++i) {
    CHECK(described.segments[i].start_seconds == plain.segments[i].start_seconds);
    const SegmentDecoding& decoding = described.segments[i].decoding.value();
    CHECK(decoding.tokens.size() == described.segments[i].tokens.size());
    CHECK(decoding.temperature == 0.0f);
    sum += decoding.average_log_probability * static_cast<double>(decoding.tokens.size());
    tokens += decoding.tokens.size();
  }
  CHECK(sum / static_cast<double>(tokens) == doctest::Approx(described.average_log_probability.value()));
}

TEST_CASE("slots of a Parakeet model give the same results in parallel and alone") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  constexpr std::size_t kSlots = 3;
  std::vector<Window> windows;
  std::vector<WindowResult> alone;
  const auto slot = model->make_slot(1);
  for (std::size_t i = 0; i < kSlots; ++i) {
    windows.push_back(noise_window(3.0 + static_cast<double>(i), static_cast<std::uint32_t>(20 + i)));
    alone.push_back(slot->transcribe(windows.back(), english(), nullptr));
  }
  std::vector<WindowResult> together(kSlots);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kSlots; ++i) {
      threads.emplace_back([&, i] {
        const auto own = model->make_slot(1);
        for (int turn = 0; turn < 3; ++turn) together[i] = own->transcribe(windows[i], english(), nullptr);
      });
    }
  }
  for (std::size_t i = 0; i < kSlots; ++i) CHECK(test::tokens_of(together[i]) == test::tokens_of(alone[i]));
}

TEST_CASE("a Parakeet slot is aborted at any step, and stays usable") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  const auto slot = model->make_slot(1);
  const Window window = noise_window(4, 6);
  const auto expected = test::tokens_of(slot->transcribe(window, english(), nullptr));
  REQUIRE(expected.size() > 10);
  for (const int checks : {0, 1, 2, 3, 10}) {
    const test::CountingAbort abort(checks);
    CHECK(test::message_of_error(ErrorCode::kAborted, [&] { slot->transcribe(window, english(), &abort); }) ==
          "aborted by the caller");
    // Once the abort is seen, it is not polled again.
    CHECK(abort.looks() == std::max(checks, 1));
    CHECK(test::tokens_of(slot->transcribe(window, english(), nullptr)) == expected);
  }
}

TEST_CASE("silence, NaNs, short windows and the loudest sound give valid text") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  const auto slot = model->make_slot(1);
  CHECK(slot->transcribe(test::silence(0.1), english(), nullptr).segments.empty());
  CHECK(slot->transcribe(Window{}, english(), nullptr).segments.empty());
  for (const float sample : {0.0f, std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f}) {
    Window window = test::silence(2);
    std::ranges::fill(window.samples, sample);
    const std::string text = test::text_of(slot->transcribe(window, english(), nullptr));
    CHECK(valid_utf8(text) == text);
  }
}

TEST_CASE("options that Parakeet does not support are refused by name") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  const auto slot = model->make_slot(1);
  const auto refusal = [&](auto change) {
    DecodeOptions options = english();
    change(options);
    const auto code = options.language == "auto" ? ErrorCode::kUnsupportedLanguage : ErrorCode::kInvalidArgument;
    return test::message_of_error(code, [&] { slot->transcribe(test::silence(1), options, nullptr); });
  };
  CHECK(refusal([](DecodeOptions& o) { o.language = "auto"; }) ==
        "language is auto, and a Parakeet model does not detect which language is spoken: name one");
  CHECK(refusal([](DecodeOptions& o) { o.task = SpeechTask::kTranslate; }) ==
        "task is translate, allowed for a Parakeet model: transcribe");
  CHECK(refusal([](DecodeOptions& o) { o.beam_size = 2; }) == "beam_size is 2, allowed for a Parakeet model: 1");
  CHECK(refusal([](DecodeOptions& o) { o.temperature = 0.5f; }) ==
        "temperature is 0.500000, allowed for a Parakeet model: 0");
  CHECK(refusal([](DecodeOptions& o) { o.max_tokens = 5; }) == "max_tokens is 5, allowed for a Parakeet model: 0");
  CHECK(refusal([](DecodeOptions& o) { o.initial_prompt = "Verbatim"; }) ==
        "initial_prompt is 8 bytes long, allowed for a Parakeet model: none");
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          slot->transcribe(test::silence(32), english(), nullptr);
        }) == "the window is longer than the 31 seconds of the model");
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] { model->make_slot(0); }).starts_with("threads is 0"));
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          load_slot_model(file.path(), "cpu", AcceleratorMode::kAuto, "auto", {{0, 0}});
        }).starts_with("alignment heads are given"));
}

TEST_CASE("the engine's own decoder refuses a Parakeet file, and names what decodes it") {
  const test::SmallParakeet file;
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          load_recogniser(file.path(), "cpu", AcceleratorMode::kOff, "auto");
        }) == "small.bin is a Parakeet model, which whisper.cpp decodes, and no other decoder");
}

TEST_CASE("the family of a model is read from its file") {
  const test::SmallParakeet file;
  const auto model = load_slot_model(file.path(), "cpu");
  CHECK(model->info().family == "parakeet");
  CHECK(model->info().type == "custom");
  CHECK(model->info().weight_type == "f16");
  CHECK(model->info().languages.empty());
  CHECK(!model->info().abilities.detects_language);
  CHECK(!model->info().abilities.translates);
  CHECK(!model->info().abilities.takes_prompt);
  CHECK(!model->info().abilities.takes_temperature);
  CHECK(model->info().accelerator.empty());
  CHECK(model->memory_bytes() > 100000);
  CHECK(model->longest_window_seconds() == doctest::Approx(31.99));
  CHECK(model->make_slot(1)->memory_bytes() > 0);
  const auto whisper = load_slot_model(test::bundled_model_path(), "cpu");
  CHECK(whisper->info().family == "whisper");
  CHECK(whisper->info().abilities.detects_language);
  CHECK(whisper->longest_window_seconds() == 30.0);
  CHECK(test::text_of(whisper->make_slot(1)->transcribe(test::silence(0.05), english(), nullptr)).empty());
}

}  // namespace verbatim::parakeet
