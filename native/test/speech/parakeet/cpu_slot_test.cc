#include "speech/parakeet/cpu_slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "error.h"
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

// Checks of models on the accelerator alone are in test/accelerator/onednn.

std::shared_ptr<const SlotModel> load(const test::SmallParakeet& file, AcceleratorMode mode,
                                      std::string_view compute = "auto") {
  return load_slot_model(file.path(), "cpu", mode, compute);
}

DecodeOptions with_words() {
  DecodeOptions options = english();
  options.align = true;
  return options;
}

struct TimedWord {
  std::string text;
  double start, end;
  bool operator==(const TimedWord&) const = default;
};

std::vector<TimedWord> words_of(const WindowResult& result) {
  std::vector<TimedWord> words;
  for (const Segment& segment : result.segments) {
    for (const Word& word : segment.words) words.push_back({word.text, word.start_seconds, word.end_seconds});
  }
  return words;
}

// Least number of tokens to insert, delete or replace.
std::size_t distance(const std::vector<std::pair<int, float>>& a, const std::vector<std::pair<int, float>>& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1].first == b[j - 1].first ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// Every part as small as a file may have it, with a wide kernel; heads of one value.
ModelShape least_shape() {
  ModelShape shape = test::small_parakeet_shape("f32");
  shape.state = shape.heads = shape.mels = 8;
  shape.layers = shape.subsampling_channels = shape.prediction_layers = 1;
  shape.kernel = 63;
  shape.fft = 64;
  shape.prediction_state = 3;
  shape.durations = shape.most_tokens = 1;
  return shape;
}

constexpr double kLengths[] = {0.12, 0.5, 2.0, 7.3, 1.0, 20.0, 31.0};

}  // namespace

TEST_CASE("in float32 the tokens and times are those of whisper.cpp with float32 weights") {
  std::uint32_t seed = 1;
  for (const ModelShape& shape : {test::small_parakeet_shape("f32"), test::parakeet_shape("parakeet-narrow", "f32"),
                                  test::parakeet_shape("parakeet-wide", "f32"), least_shape()}) {
    const test::SmallParakeet file(shape, seed);
    const auto plain = load(file, AcceleratorMode::kOff)->make_slot(1);
    const auto fast = load(file, AcceleratorMode::kFloat32)->make_slot(1);
    std::set<int> pieces;
    for (const double seconds : kLengths) {
      CAPTURE(seconds);
      const Window window = noise_window(seconds, ++seed);
      const WindowResult expected = plain->transcribe(window, with_words(), nullptr);
      const WindowResult result = fast->transcribe(window, with_words(), nullptr);
      const auto tokens = test::tokens_of(expected);
      const auto found = test::tokens_of(result);
      REQUIRE(found.size() == tokens.size());
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        CHECK(found[i].first == tokens[i].first);
        CHECK(found[i].second == doctest::Approx(tokens[i].second).epsilon(1e-3));
        pieces.insert(found[i].first);
      }
      CHECK(words_of(result) == words_of(expected));
      CHECK(test::text_of(result) == test::text_of(expected));
    }
    // Otherwise the text would not depend on the audio, and the comparison would show nothing.
    if (shape.state > 8) CHECK(pieces.size() > 5);
  }
}

// With weights of other types than float32, whisper.cpp rounds activations to float16, or for quantized weights to
// eight bits.
TEST_CASE("whatever its weights' type, few of a model's tokens differ from whisper.cpp's") {
  for (const std::string_view compute : {"float32", "auto", "int8"}) {
    CAPTURE(compute);
    std::uint32_t seed = 50;
    std::size_t tokens = 0;
    std::size_t different = 0;
    for (const ModelShape& shape :
         {test::small_parakeet_shape(), test::small_parakeet_shape("q8_0"), test::parakeet_shape("parakeet-narrow"),
          test::parakeet_shape("parakeet-wide", "q4_k")}) {
      const test::SmallParakeet file(shape, ++seed);
      const auto plain = load(file, AcceleratorMode::kOff)->make_slot(1);
      const auto fast = load(file, AcceleratorMode::kAuto, compute)->make_slot(1);
      for (const double seconds : {7.3, 20.0}) {
        const Window window = noise_window(seconds, ++seed);
        const auto expected = test::tokens_of(plain->transcribe(window, english(), nullptr));
        tokens += expected.size();
        different += distance(expected, test::tokens_of(fast->transcribe(window, english(), nullptr)));
      }
    }
    MESSAGE(compute, ": ", different, " of ", tokens, " tokens differ");
    CHECK(tokens > 200);
    CHECK((compute == "int8" ? 5 : 10) * different < tokens);
  }
}

TEST_CASE("the settings decide what computes a Parakeet model, and the model's info names it") {
  const test::SmallParakeet file;
  const std::string kernels = std::string(" kernels (") + transformer::kernels().name + ")";
  const auto name_of = [&](AcceleratorMode mode, std::string_view compute) {
    return load(file, mode, compute)->info().accelerator;
  };
  const auto expected = [&](AcceleratorMode mode) {
    const std::string name = accelerator::name(accelerator::make_weight_store(mode).get());
    return name.empty() ? "float32" + kernels : name;
  };
  CHECK(name_of(AcceleratorMode::kOff, "auto").empty());
  CHECK(name_of(AcceleratorMode::kAuto, "auto") == expected(AcceleratorMode::kAuto));
  CHECK(name_of(AcceleratorMode::kAuto, "bfloat16") == expected(AcceleratorMode::kAuto));
  CHECK(name_of(AcceleratorMode::kAuto, "float32") == expected(AcceleratorMode::kFloat32));
  CHECK(name_of(AcceleratorMode::kAuto, "int8") == "int8" + kernels);
  CHECK(name_of(AcceleratorMode::kFloat32, "auto") == expected(AcceleratorMode::kFloat32));
  CHECK(name_of(AcceleratorMode::kFloat32, "int8") == expected(AcceleratorMode::kFloat32));
  const auto refusal = [&](AcceleratorMode mode, std::string_view compute) {
    return test::message_of_error(ErrorCode::kInvalidArgument, [&] { load(file, mode, compute); });
  };
  CHECK(refusal(AcceleratorMode::kAuto, "float16") ==
        "compute is \"float16\"; auto, int8, bfloat16 and float32 are allowed");
  CHECK(refusal(AcceleratorMode::kOff, "int8") ==
        "compute is \"int8\"; auto is allowed, since whisper.cpp computes the model");
  const auto off = load(file, AcceleratorMode::kOff);
  for (const std::string_view compute : {"auto", "int8"}) {
    const auto model = load(file, AcceleratorMode::kAuto, compute);
    CHECK(model->info().family == "parakeet");
    CHECK(model->info().type == off->info().type);
    CHECK(model->info().weight_type == off->info().weight_type);
    CHECK(model->longest_window_seconds() == off->longest_window_seconds());
  }
}

TEST_CASE("a Parakeet slot is aborted within a layer and at any step, and stays usable") {
  const test::SmallParakeet file;
  const auto slot = load(file, AcceleratorMode::kAuto)->make_slot(1);
  const Window window = noise_window(4, 6);
  const auto expected = test::tokens_of(slot->transcribe(window, english(), nullptr));
  REQUIRE(expected.size() > 10);
  const test::CountingAbort whole;
  slot->transcribe(window, english(), &whole);
  CHECK(whole.looks() > static_cast<int>(expected.size()));
  for (int at = 1; at <= whole.looks(); ++at) {
    const test::CountingAbort abort(at);
    CHECK(test::message_of_error(ErrorCode::kAborted, [&] { slot->transcribe(window, english(), &abort); }) ==
          "aborted by the caller");
    // Once the abort is seen, it is not polled again, so nothing more is computed.
    CHECK(abort.looks() == at);
  }
  CHECK(test::tokens_of(slot->transcribe(window, english(), nullptr)) == expected);
}

namespace {

void check_slots_side_by_side(const std::shared_ptr<const SlotModel>& model) {
  constexpr std::size_t kSlots = 3;
  std::vector<Window> windows;
  std::vector<std::vector<std::pair<int, float>>> alone;
  for (std::size_t i = 0; i < kSlots; ++i) {
    windows.push_back(noise_window(13.0 - 5.0 * static_cast<double>(i), static_cast<std::uint32_t>(20 + i)));
    alone.push_back(test::tokens_of(model->make_slot(1)->transcribe(windows[i], english(), nullptr)));
  }
  std::vector<std::vector<std::pair<int, float>>> together(kSlots);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kSlots; ++i) {
      threads.emplace_back([&, i] {
        const auto own = model->make_slot(1 + static_cast<int>(i % 2));
        for (std::size_t turn = 0; turn <= kSlots; ++turn) {
          together[i] = test::tokens_of(own->transcribe(windows[(i + turn) % kSlots], english(), nullptr));
        }
        together[i] = test::tokens_of(own->transcribe(windows[i], english(), nullptr));
      });
    }
  }
  for (std::size_t i = 0; i < kSlots; ++i) {
    CAPTURE(i);
    CHECK(together[i] == alone[i]);
  }
}

}  // namespace

TEST_CASE("Parakeet slots side by side and on two threads give the result of one alone") {
  const test::SmallParakeet file;
  for (const std::string_view compute : {"auto", "float32", "int8"}) {
    CAPTURE(compute);
    check_slots_side_by_side(load(file, AcceleratorMode::kAuto, compute));
  }
}

TEST_CASE("without whisper.cpp: silence, NaNs, short windows and the loudest sound give valid text") {
  const test::SmallParakeet file;
  const test::SmallParakeet least(least_shape());
  for (const std::string_view compute : {"auto", "float32", "int8"}) {
    const auto of_least = load(least, AcceleratorMode::kAuto, compute)->make_slot(1);
    CHECK(of_least->transcribe(noise_window(3, 1), english(), nullptr).timings.encoder_passes == 1);
    const auto any = load(file, AcceleratorMode::kAuto, compute)->make_slot(1);
    CHECK(any->transcribe(test::silence(0.1), english(), nullptr).segments.empty());
    CHECK(any->transcribe(Window{}, english(), nullptr).segments.empty());
    for (const float sample : {0.0f, std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f}) {
      Window window = test::silence(2);
      std::ranges::fill(window.samples, sample);
      const std::string text = test::text_of(any->transcribe(window, english(), nullptr));
      CHECK(valid_utf8(text) == text);
    }
  }
  const auto slot = load(file, AcceleratorMode::kAuto)->make_slot(1);
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          slot->transcribe(test::silence(32), english(), nullptr);
        }) == "the window is longer than the 31 seconds of the model");
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          load(file, AcceleratorMode::kAuto)->make_slot(0);
        }).starts_with("threads is 0"));
}

}  // namespace verbatim::parakeet
