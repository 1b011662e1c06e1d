#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
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

DecodeOptions options_with(bool align) {
  DecodeOptions options;
  options.own_length = true;
  options.align = align;
  return options;
}

std::vector<Word> words_of(const WindowResult& result) {
  std::vector<Word> words;
  for (const Segment& segment : result.segments) words.insert(words.end(), segment.words.begin(), segment.words.end());
  return words;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const EngineError& error) {
    return error.code();
  }
  return ErrorCode::kInternalError;
}

}  // namespace

TEST_CASE("a slot's words are its text, in order, inside the window, and do not change the text" *
          doctest::test_suite("long")) {
  Slot slot(test::bundled_model(), 1);
  for (const test::Clip& clip : test::clips()) {
    CAPTURE(clip.file);
    const Window& window = test::window_of(clip.file);
    const WindowResult plain = slot.transcribe(window, options_with(false), nullptr);
    const WindowResult result = slot.transcribe(window, options_with(true), nullptr);
    CHECK(tokens_of(result) == tokens_of(plain));
    CHECK(text_of(result) == text_of(plain));
    CHECK(words_of(plain).empty());
    double at = 0.0;
    for (const Segment& segment : result.segments) {
      std::string joined;
      for (const Word& word : segment.words) {
        joined += word.text;
        CHECK(word.start_seconds >= at);
        CHECK(word.end_seconds >= word.start_seconds);
        at = word.end_seconds;
      }
      CHECK(joined == segment.text);
    }
    CHECK(at > 0.0);
    CHECK(at <= window.end_seconds() - window.start_seconds());
  }
}

TEST_CASE("a slot's words have the times of the batched decoder's") {
  const auto recogniser = load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, "int8");
  test::WindowRunner runner(*recogniser, {});
  Slot slot(test::bundled_model(), 1);
  int compared = 0;
  int apart = 0;
  for (const test::Clip& clip : test::sentences()) {
    CAPTURE(clip.file);
    const Window& window = test::window_of(clip.file);
    const auto ours = runner.transcribe(std::make_shared<Window>(window), options_with(true));
    const auto theirs = slot.transcribe(window, options_with(true), nullptr);
    if (text_of(ours) != text_of(theirs) || ours.timings.encoder_passes > 1) continue;
    const auto one = words_of(ours), other = words_of(theirs);
    REQUIRE(one.size() == other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      CHECK(one[i].text == other[i].text);
      const double distance = std::abs(one[i].start_seconds - other[i].start_seconds);
      CHECK(distance < 0.3);
      if (distance >= 0.1) ++apart;
      ++compared;
    }
  }
  CHECK(compared > 20);
  // Both round differently, so that the path through the attention takes the other of two near ways now and then.
  CHECK(apart <= compared / 10);
}

TEST_CASE("a slot's words take memory on first use, and an abort leaves the slot usable") {
  const auto model = SpeechModel::load(test::bundled_model_path(), "cpu");
  Slot slot(model, 1);
  const Window& window = test::window_of(test::clips().front().file);
  const std::size_t model_before = model->memory_bytes(), slot_before = slot.memory_bytes();
  slot.transcribe(window, options_with(false), nullptr);
  CHECK(model->memory_bytes() == model_before);
  slot.transcribe(window, options_with(true), nullptr);
  CHECK(model->memory_bytes() > model_before);
  CHECK(slot.memory_bytes() > slot_before);
  AbortFlag abort;
  abort.set();
  CHECK(code_of([&] { slot.transcribe(window, options_with(true), &abort); }) == ErrorCode::kAborted);
  CHECK_FALSE(words_of(slot.transcribe(window, options_with(true), nullptr)).empty());
}

TEST_CASE("a slot has words of silence, of the shortest windows and by the heads that were given") {
  Slot slot(test::bundled_model(), 1);
  for (const double seconds : {0.02, 0.12, 1.0})
    CHECK_NOTHROW(slot.transcribe(test::silence(seconds), options_with(true), nullptr));
  const auto load = [](const std::vector<transformer::AttentionHead>& heads) {
    return SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kOff, heads);
  };
  CHECK(code_of([&] { load({{99, 0}}); }) == ErrorCode::kInvalidArgument);
  const Window& window = test::window_of(test::clips().front().file);
  Slot first(load({{0, 0}}), 1), last(load({{2, 0}}), 1);
  CHECK(words_of(first.transcribe(window, options_with(true), nullptr)) !=
        words_of(last.transcribe(window, options_with(true), nullptr)));
}

}  // namespace verbatim
