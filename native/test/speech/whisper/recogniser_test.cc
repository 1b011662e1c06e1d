#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"
#include "testing/window_runner.h"

namespace verbatim {
namespace {

using test::text_of;
using test::tokens_of;
using test::WindowRunner;

std::shared_ptr<const Recogniser> bundled(std::string_view compute,
                                          AcceleratorMode accelerator = AcceleratorMode::kAuto) {
  return load_recogniser(test::bundled_model_path(), "cpu", accelerator, compute);
}

DecodeOptions own_length(const std::string& language = "auto") {
  DecodeOptions options;
  options.language = language;
  options.own_length = true;
  return options;
}

std::shared_ptr<const Window> shared_window(const std::string& file) {
  return std::make_shared<Window>(test::window_of(file));
}

std::vector<std::shared_ptr<const Window>> all_windows() {
  std::vector<std::shared_ptr<const Window>> windows;
  for (const test::Clip& clip : test::clips()) windows.push_back(shared_window(clip.file));
  return windows;
}

void check_equal(const WindowResult& actual, const WindowResult& expected) {
  CHECK(tokens_of(actual) == tokens_of(expected));
  CHECK(text_of(actual) == text_of(expected));
  CHECK(actual.language_probabilities == expected.language_probabilities);
  CHECK(actual.average_log_probability == expected.average_log_probability);
  REQUIRE(actual.segments.size() == expected.segments.size());
  for (std::size_t i = 0; i < actual.segments.size(); ++i) {
    CHECK(actual.segments[i].start_seconds == expected.segments[i].start_seconds);
    CHECK(actual.segments[i].end_seconds == expected.segments[i].end_seconds);
    CHECK(actual.segments[i].no_speech_probability == expected.segments[i].no_speech_probability);
  }
}

// Decodes a window alone, one step at a time.
WindowResult alone(const Recogniser& recogniser, std::shared_ptr<const Window> window, const DecodeOptions& options) {
  return WindowRunner(recogniser, {}).transcribe(std::move(window), options);
}

EngineError failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const EngineError& error) {
    return error;
  }
  return {ErrorCode::kInternalError, "nothing was thrown"};
}

}  // namespace

// whisper.cpp computes the bundled model's products in eight bits, so these are clips of a length that the model was
// trained for.
TEST_CASE("in float32 the batched decoder gives whisper.cpp's text") {
  const auto recogniser = bundled("float32");
  Slot reference(test::bundled_model(), 1);
  WindowRunner runner(*recogniser, {});
  for (const test::Clip& clip : test::sentences()) {
    CAPTURE(clip.file);
    for (const int beams : {1, 5}) {
      DecodeOptions options = own_length();
      options.beam_size = beams;
      options.temperature_increment = 0.0f;
      const auto window = shared_window(clip.file);
      const WindowResult ours = runner.transcribe(window, options);
      const WindowResult theirs = reference.transcribe(*window, options, nullptr);
      CHECK(text_of(ours) == text_of(theirs));
      CHECK(ours.language == theirs.language);
      REQUIRE(ours.segments.size() == theirs.segments.size());
      for (std::size_t i = 0; i < ours.segments.size(); ++i) {
        CHECK(ours.segments[i].start_seconds == doctest::Approx(theirs.segments[i].start_seconds));
        CHECK(ours.segments[i].end_seconds == doctest::Approx(theirs.segments[i].end_seconds));
      }
      CHECK(*ours.average_log_probability == doctest::Approx(*theirs.average_log_probability).epsilon(0.05));
    }
  }
}

TEST_CASE("a window has the same result alone and in a batch of others, whenever it arrives") {
  const auto recogniser = bundled("int8");
  const auto windows = all_windows();
  // Some at higher temperatures, so that random numbers are drawn, and some with beams.
  std::vector<DecodeOptions> options;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    options.push_back(own_length());
    if (i % 3 == 1) options.back().beam_size = 3;
    if (i % 3 == 2) {
      options.back().temperature = 0.4f;
      options.back().best_of = 2;
    }
  }
  std::vector<WindowResult> expected;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    expected.push_back(alone(*recogniser, windows[i], options[i]));
  }
  // Two lanes, and three rounds of windows in different orders.
  WindowRunner runner(*recogniser, {.lanes = 2, .threads = 1, .steps = 2, .full_batch = 3});
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::vector<std::size_t> order(2 * windows.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % windows.size();
    std::shuffle(order.begin(), order.end(), std::mt19937(round));
    std::vector<std::shared_ptr<WindowInFlight>> started;
    for (const std::size_t i : order) started.push_back(runner.start(windows[i], options[i]));
    for (std::size_t i = 0; i < order.size(); ++i) {
      CAPTURE(test::clips()[order[i]].file);
      check_equal(runner.finish(*started[i]), expected[order[i]]);
    }
  }
}

TEST_CASE("a prompt affects its own window alone, whatever the batch holds beside it") {
  const auto recogniser = bundled("int8");
  const auto windows = all_windows();
  DecodeOptions prompted = own_length();
  prompted.initial_prompt = "Hello Emma, this is Laura. My name is Laura.";
  std::vector<WindowResult> expected;
  for (const auto& window : windows) expected.push_back(alone(*recogniser, window, own_length()));
  WindowRunner runner(*recogniser, {.lanes = 2, .threads = 1, .steps = 2, .full_batch = 4});
  std::vector<std::shared_ptr<WindowInFlight>> plain;
  std::vector<std::shared_ptr<WindowInFlight>> with_prompt;
  for (const auto& window : windows) {
    with_prompt.push_back(runner.start(window, prompted));
    plain.push_back(runner.start(window, own_length()));
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    CAPTURE(test::clips()[i].file);
    check_equal(runner.finish(*plain[i]), expected[i]);
    const WindowResult result = runner.finish(*with_prompt[i]);
    check_equal(result, alone(*recogniser, windows[i], prompted));
    CHECK(result.language_probabilities == expected[i].language_probabilities);
    CHECK(result.average_log_probability != expected[i].average_log_probability);
  }
}

TEST_CASE("a prompt of a thousand characters fits, whatever they are") {
  const auto recogniser = bundled("int8");
  const auto window = shared_window(test::sentences().front().file);
  for (const std::string character : {"a", "\xe4\xb8\xad", "\xf0\x9f\x99\x82", "\x01", " "}) {
    CAPTURE(character);
    DecodeOptions options = own_length();
    for (int i = 0; i < 1000; ++i) options.initial_prompt += character;
    CHECK(alone(*recogniser, window, options).language == test::sentences().front().language);
  }
}

TEST_CASE("an aborted window leaves at the next step, and the others are unaffected") {
  const auto recogniser = bundled("int8");
  const auto encoder = recogniser->make_encoder(1);
  const auto batch = recogniser->make_batch();
  const auto window = shared_window(test::clips().front().file);
  const auto begin = [&] {
    auto started = recogniser->open(window, own_length());
    while (started->stage() == WindowStage::kEncode) encoder->advance(*started);
    REQUIRE(started->stage() == WindowStage::kDecode);
    batch->add(started);
    return started;
  };
  const auto first = begin();
  const auto second = begin();
  BatchAdvance advance = batch->advance(2, 1);
  CHECK(advance.steps == 2);
  CHECK(batch->size() == 2);
  first->abort();
  advance = batch->advance(100, 1);
  REQUIRE(advance.left.size() == 1);
  CHECK(advance.left.front() == first);
  CHECK(advance.steps == 1);
  CHECK(advance.rows == 1);
  CHECK(batch->size() == 1);
  CHECK(first->memory_bytes() == 0);
  CHECK(failure([&] { first->result(); }).code() == ErrorCode::kAborted);
  while (second->stage() == WindowStage::kDecode) batch->advance(8, 1);
  CHECK(batch->size() == 0);
  check_equal(second->result(), alone(*recogniser, window, own_length()));
}

TEST_CASE("an aborted window is not encoded") {
  const auto recogniser = bundled("int8");
  const auto encoder = recogniser->make_encoder(1);
  const auto window = recogniser->open(shared_window(test::clips().front().file), own_length());
  window->abort();
  encoder->advance(*window);
  CHECK(window->stage() == WindowStage::kDone);
  CHECK(window->memory_bytes() == 0);
  CHECK(failure([&] { window->result(); }).code() == ErrorCode::kAborted);
}

TEST_CASE("windows take turns in one encoder between their units") {
  const auto recogniser = bundled("int8");
  const auto encoder = recogniser->make_encoder(1);
  const auto batch = recogniser->make_batch();
  const auto& clips = test::clips();
  std::vector<std::shared_ptr<WindowInFlight>> windows;
  for (std::size_t i = 0; i < 2; ++i) windows.push_back(recogniser->open(shared_window(clips[i].file), own_length()));
  while (windows[0]->stage() == WindowStage::kEncode || windows[1]->stage() == WindowStage::kEncode) {
    for (const auto& window : windows) {
      if (window->stage() == WindowStage::kEncode) encoder->advance(*window);
    }
  }
  for (const auto& window : windows) batch->add(window);
  while (batch->size() > 0) batch->advance(16, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    check_equal(windows[i]->result(), alone(*recogniser, shared_window(clips[i].file), own_length()));
  }
}

TEST_CASE("unsupported options of a recogniser are refused by name") {
  const auto recogniser = bundled("int8");
  DecodeOptions options = own_length("xx");
  const auto window = std::make_shared<Window>(test::silence(1.0));
  CHECK(failure([&] { recogniser->open(window, options); }).code() == ErrorCode::kUnsupportedLanguage);
  DecodeOptions prompted = own_length();
  prompted.initial_prompt = std::string(4096, 'a');
  recogniser->open(window, prompted);
  prompted.initial_prompt += 'a';
  const EngineError refusal = failure([&] { recogniser->open(window, prompted); });
  CHECK(refusal.code() == ErrorCode::kInvalidArgument);
  CHECK(std::string(refusal.what()) == "initial_prompt is 4097 bytes long, allowed: at most 4096");
  const auto too_long = std::make_shared<Window>(test::silence(30.1));
  CHECK(failure([&] { recogniser->open(too_long, own_length()); }).code() == ErrorCode::kInvalidArgument);
  CHECK(std::string(failure([] { bundled("float16"); }).what()).find("float16") != std::string::npos);
  CHECK(failure([&] { recogniser->make_encoder(0); }).code() == ErrorCode::kInvalidArgument);
  const auto opened = recogniser->open(window, own_length());
  CHECK(failure([&] { recogniser->make_batch()->add(opened); }).code() == ErrorCode::kInvalidArgument);
  CHECK(failure([&] { opened->result(); }).code() == ErrorCode::kInternalError);
}

TEST_CASE("a window too short to hold a word is done at once") {
  const auto recogniser = bundled("int8");
  const auto window = recogniser->open(std::make_shared<Window>(test::silence(0.1)), own_length("de"));
  REQUIRE(window->stage() == WindowStage::kDone);
  const WindowResult result = window->result();
  CHECK(result.segments.empty());
  CHECK(result.language == "de");
}

}  // namespace verbatim
