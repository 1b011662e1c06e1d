// The recogniser on ggml's graphs, on the device under test, against the recogniser for processors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "error.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"
#include "support/device_under_test.h"
#include "testing/window_runner.h"

namespace verbatim {
namespace {

using test::text_of;
using test::WindowRunner;

std::shared_ptr<const Recogniser> on_graphs(std::string_view compute) {
  return load_recogniser(test::bundled_model_path(), test::device_under_test(), AcceleratorMode::kOff, compute, {},
                         SpeechExecutor::kGraphs);
}

std::shared_ptr<const Recogniser> on_processor(std::string_view compute) {
  return load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, compute);
}

DecodeOptions options_with(int beams, bool align) {
  DecodeOptions options;
  options.own_length = true;
  options.beam_size = beams;
  options.align = align;
  return options;
}

std::shared_ptr<const Window> shared_window(const std::string& file) {
  return std::make_shared<Window>(test::window_of(file));
}

std::vector<Word> words_of(const WindowResult& result) {
  std::vector<Word> words;
  for (const Segment& segment : result.segments) words.insert(words.end(), segment.words.begin(), segment.words.end());
  return words;
}

std::vector<int> ids_of(const WindowResult& result) {
  std::vector<int> ids;
  for (const Segment& segment : result.segments)
    for (const Token& token : segment.tokens) ids.push_back(token.id);
  return ids;
}

std::vector<TokenChoice> choices_of(const WindowResult& result) {
  std::vector<TokenChoice> choices;
  for (const Segment& segment : result.segments)
    choices.insert(choices.end(), segment.choices.begin(), segment.choices.end());
  return choices;
}

// The same words, all but `far` of them within 20 ms.
void check_times(const WindowResult& found, const WindowResult& expected, int& compared, int& far) {
  const auto one = words_of(found), other = words_of(expected);
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].text == other[i].text);
    const double start = std::abs(one[i].start_seconds - other[i].start_seconds);
    const double end = std::abs(one[i].end_seconds - other[i].end_seconds);
    far += start > 0.0201 || end > 0.0201 ? 1 : 0;
    ++compared;
  }
}

ErrorCode code_of(WindowInFlight& window) {
  try {
    window.result();
  } catch (const EngineError& error) {
    return error.code();
  }
  return ErrorCode::kInternalError;
}

void encode(WindowEncoder& encoder, WindowInFlight& window) {
  while (window.stage() == WindowStage::kEncode) encoder.advance(window);
  REQUIRE(window.stage() == WindowStage::kDecode);
}

}  // namespace

TEST_CASE("graphs: in float32 every clip has the processor's tokens, and words when it has them" *
          doctest::test_suite("long")) {
  const auto found = on_graphs("float32"), expected = on_processor("float32");
  WindowRunner ours(*found, {}), theirs(*expected, {});
  int compared = 0, far = 0;
  for (const test::Clip& clip : test::clips()) {
    for (const int beams : {1, 3}) {
      CAPTURE(clip.file);
      CAPTURE(beams);
      const auto window = shared_window(clip.file);
      const WindowResult one = ours.transcribe(window, options_with(beams, true));
      const WindowResult other = theirs.transcribe(window, options_with(beams, true));
      CHECK(ids_of(one) == ids_of(other));
      CHECK(one.language == other.language);
      CHECK(*one.average_log_probability == doctest::Approx(*other.average_log_probability).epsilon(0.01));
      check_times(one, other, compared, far);
    }
  }
  CHECK(compared > 20);
  CHECK(far == 0);
}

TEST_CASE("graphs: every compute type recognises the text, alone and in batches of many windows" *
          doctest::test_suite("long")) {
  std::vector<std::string> expected;
  std::size_t all_words = 0;
  {
    const auto recogniser = on_processor("float32");
    WindowRunner runner(*recogniser, {});
    for (const test::Clip& clip : test::clips()) {
      expected.push_back(text_of(runner.transcribe(shared_window(clip.file), options_with(1, false))));
      all_words += test::words_of(expected.back()).size();
    }
  }
  for (const std::string compute : {"float32", "auto", "bfloat16", "int8"}) {
    CAPTURE(compute);
    const auto recogniser = on_graphs(compute);
    std::vector<std::string> alone;
    std::size_t errors = 0;
    {
      WindowRunner runner(*recogniser, {});
      for (const test::Clip& clip : test::clips()) {
        alone.push_back(text_of(runner.transcribe(shared_window(clip.file), options_with(1, false))));
        errors += test::word_errors(expected[alone.size() - 1], alone.back());
      }
    }
    CHECK(errors * 20 <= all_words);
    // Windows join in any order while others are decoded.
    WindowRunner runner(*recogniser, {.lanes = 2, .steps = 3, .full_batch = 3});
    std::vector<std::shared_ptr<WindowInFlight>> windows;
    for (const test::Clip& clip : test::clips())
      windows.push_back(runner.start(shared_window(clip.file), options_with(1, true)));
    // Which windows share a step affects rounding: too little to change a word in float32; in other types a word that
    // the model is unsure of may change.
    std::size_t changed = 0;
    for (std::size_t i = 0; i < windows.size(); ++i)
      changed += test::word_errors(alone[i], text_of(runner.finish(*windows[i])));
    CHECK(changed * 20 <= (compute == "float32" ? 0 : all_words));
  }
}

// Run by itself, it opens the device for float16; after a test in float32 its products are in float32.
TEST_CASE("graphs: in float16 tokens are the processor's in float32, but for near ties, which are listed" *
          doctest::test_suite("long")) {
  const auto found = on_graphs("auto"), expected = on_processor("float32");
  WindowRunner ours(*found, {}), theirs(*expected, {});
  std::size_t clips = 0, different = 0;
  for (const test::Clip& clip : test::clips()) {
    CAPTURE(clip.file);
    const auto window = shared_window(clip.file);
    DecodeOptions options = options_with(1, false);
    options.explain = true;
    const auto one = choices_of(ours.transcribe(window, options));
    const auto other = choices_of(theirs.transcribe(window, options));
    ++clips;
    const auto [at, tie] = std::ranges::mismatch(one, other, {}, &TokenChoice::id, &TokenChoice::id);
    if (at == one.end() && tie == other.end()) continue;
    ++different;
    REQUIRE(tie != other.end());
    std::printf("  %s: token %td, %d before %d by %.3f\n", clip.file.c_str(), tie - other.begin(), tie->id,
                tie->runner_up, static_cast<double>(tie->margin));
    CHECK(tie->margin < 0.5f);
  }
  std::printf("  %zu of %zu clips differ in float16\n", different, clips);
  CHECK(different * 5 <= clips);
}

TEST_CASE("graphs: any batch of the model decodes an encoder's result, and aborts do not affect the others") {
  const auto recogniser = on_graphs("float32");
  const auto encoder = recogniser->make_encoder(1);
  const auto one = recogniser->make_batch(), other = recogniser->make_batch();
  const auto samples = shared_window(test::clips().front().file);
  std::vector<std::shared_ptr<WindowInFlight>> windows;
  for (int i = 0; i < 4; ++i) windows.push_back(recogniser->open(samples, options_with(1, true)));
  windows[3]->abort();
  encoder->advance(*windows[3]);
  CHECK(windows[3]->stage() == WindowStage::kDone);
  CHECK(code_of(*windows[3]) == ErrorCode::kAborted);
  for (int i = 0; i < 3; ++i) encode(*encoder, *windows[i]);
  one->add(windows[0]);
  one->add(windows[1]);
  other->add(windows[2]);
  CHECK(one->advance(2, 1).steps == 2);
  windows[0]->abort();
  const BatchAdvance advance = one->advance(100, 1);
  REQUIRE(advance.left.size() == 1);
  CHECK(advance.left.front() == windows[0]);
  CHECK(windows[0]->memory_bytes() == 0);
  CHECK(code_of(*windows[0]) == ErrorCode::kAborted);
  while (one->size() + other->size() > 0) {
    one->advance(3, 1);
    other->advance(5, 1);
  }
  const WindowResult first = windows[1]->result(), second = windows[2]->result();
  CHECK_FALSE(ids_of(first).empty());
  CHECK(ids_of(first) == ids_of(second));
  CHECK(words_of(first).size() == words_of(second).size());
}

TEST_CASE("graphs: a model's info has its device and memory, and every spelling of its types is accepted") {
  const auto exact = on_graphs("float32"), half = on_graphs("auto");
  CHECK(exact->info().device == test::device_under_test());
  CHECK(exact->info().accelerator.empty());
  CHECK(half->info().memory_bytes < exact->info().memory_bytes);
  CHECK_THROWS_WITH_AS(on_graphs("float16"),
                       "compute type \"float16\" is unknown; auto, int8, bfloat16 and float32 are allowed",
                       EngineError);
  // A missing GPU is reported as missing, not refused as an unknown kind of device.
  const std::string missing = "cuda:" + std::to_string(list_devices().size());
  try {
    load_recogniser(test::bundled_model_path(), missing, AcceleratorMode::kAuto, "auto");
    FAIL("nothing was thrown");
  } catch (const EngineError& error) {
    CHECK(error.code() == ErrorCode::kDeviceUnavailable);
  }
}

TEST_CASE("graphs: a slot's words are computed on its device and have the processor's times") {
  const auto load = [](SpeechExecutor executor) {
    const auto device = executor == SpeechExecutor::kGraphs ? test::device_under_test() : "cpu";
    return SpeechModel::load(test::bundled_model_path(), device, AcceleratorMode::kOff, {}, executor);
  };
  const auto model = load(SpeechExecutor::kGraphs), reference = load(SpeechExecutor::kByDevice);
  Slot ours(model, 1), theirs(reference, 1);
  int compared = 0, far = 0;
  for (const test::Clip& clip : test::sentences()) {
    CAPTURE(clip.file);
    const Window& window = test::window_of(clip.file);
    const auto one = ours.transcribe(window, options_with(1, true), nullptr);
    check_times(one, theirs.transcribe(window, options_with(1, true), nullptr), compared, far);
  }
  // The processor's decoder keeps eight bits per weight, the graphs keep float16.
  CHECK(model->memory_bytes() > reference->memory_bytes());
  CHECK(compared > 20);
  CHECK(far * 20 <= compared);
}

}  // namespace verbatim
