#include "speech/parakeet/accelerated_slot.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
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

// Without an accelerator a model of any setting is whisper.cpp's: what is said here of its text holds there
// too, what is said of its inside is not asked.
bool has_accelerator() { return accelerator::make_weight_store(AcceleratorMode::kAuto) != nullptr; }

std::shared_ptr<const SlotModel> load(const test::SmallParakeet& file, AcceleratorMode mode) {
  return load_slot_model(file.path(), "cpu", mode);
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
std::size_t distance(const std::vector<std::pair<int, float>>& a,
                     const std::vector<std::pair<int, float>>& b) {
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

// As small as a file may have each part, with a kernel as wide; heads of one value.
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

TEST_CASE("in float32 the accelerator says what whisper.cpp says of float32 weights, tokens and times") {
  std::uint32_t seed = 1;
  for (const ModelShape& shape :
       {test::small_parakeet_shape("f32"), test::parakeet_shape("parakeet-narrow", "f32"),
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
    // Else it says the same whatever is heard, and would be equal to anything.
    if (shape.state > 8) CHECK(pieces.size() > 5);
  }
}

// With other weights than float32 whisper.cpp rounds what it multiplies with them to float16, or to eight
// bits where they are quantized.
TEST_CASE("whatever its weights' type, few of an accelerated model's tokens differ from whisper.cpp's") {
  for (const AcceleratorMode mode : {AcceleratorMode::kFloat32, AcceleratorMode::kAuto}) {
    std::uint32_t seed = 50;
    std::size_t tokens = 0;
    std::size_t different = 0;
    for (const ModelShape& shape :
         {test::small_parakeet_shape(), test::small_parakeet_shape("q8_0"),
          test::parakeet_shape("parakeet-narrow"), test::parakeet_shape("parakeet-wide", "q4_k")}) {
      const test::SmallParakeet file(shape, ++seed);
      const auto plain = load(file, AcceleratorMode::kOff)->make_slot(1);
      const auto fast = load(file, mode)->make_slot(1);
      for (const double seconds : {7.3, 20.0}) {
        const Window window = noise_window(seconds, ++seed);
        const auto expected = test::tokens_of(plain->transcribe(window, english(), nullptr));
        tokens += expected.size();
        different += distance(expected, test::tokens_of(fast->transcribe(window, english(), nullptr)));
      }
    }
    MESSAGE(different, " of ", tokens, " tokens differ");
    CHECK(tokens > 200);
    CHECK(10 * different < tokens);
  }
}

TEST_CASE("the setting of the accelerator decides what computes a Parakeet model, and the model says it") {
  const test::SmallParakeet file;
  const std::string name = accelerator::name(accelerator::make_weight_store(AcceleratorMode::kAuto).get());
  CHECK(load(file, AcceleratorMode::kOff)->info().accelerator.empty());
  CHECK(load(file, AcceleratorMode::kAuto)->info().accelerator == name);
  CHECK(load(file, AcceleratorMode::kFloat32)->info().accelerator == (name.empty() ? "" : "onednn float32"));
  const auto model = load(file, AcceleratorMode::kAuto);
  const auto off = load(file, AcceleratorMode::kOff);
  CHECK(model->info().family == "parakeet");
  CHECK(model->info().type == off->info().type);
  CHECK(model->info().weight_type == off->info().weight_type);
  CHECK(model->longest_window_seconds() == off->longest_window_seconds());
}

TEST_CASE("every product of an accelerated Parakeet encoder is the accelerator's, however short the window") {
  if (!has_accelerator()) return;
  const test::SmallParakeet file;
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  const auto model = AcceleratedModel::load(file.path(), store);
  const auto slot = model->make_slot(1);
  // Two products of the subsampling and one behind it for each 32 positions, eight of each layer, and the
  // joint network's.
  for (const auto& [seconds, chunks] : {std::pair{0.2, 1}, {2.0, 1}, {5.0, 2}}) {
    const std::uint64_t before = accelerator::computed_products(store.get());
    slot->transcribe(noise_window(seconds, 3), english(), nullptr);
    CHECK(accelerator::computed_products(store.get()) - before ==
          static_cast<std::uint64_t>(3 * chunks + 8 * file.shape.layers + 1));
  }
}

TEST_CASE("an accelerated Parakeet slot is aborted within a layer and at any step, and stays usable") {
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
    // Nothing is looked at, and so nothing is computed, once it is set.
    CHECK(abort.looks() == at);
  }
  CHECK(test::tokens_of(slot->transcribe(window, english(), nullptr)) == expected);
}

TEST_CASE("Parakeet's encoder looks for an abort before it begins and four times a layer") {
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  if (!store) return;
  const test::SmallParakeet file;
  const auto model = AcceleratedModel::load(file.path(), store);
  const MelSpectrogram mel = model->mel().spectrogram(noise_window(4, 6).samples);
  Encoder encoder(model->encoder(), store, file.shape, 1);
  const test::CountingAbort whole;
  encoder.encode(mel, &whole);
  CHECK(whole.looks() == 1 + 4 * file.shape.layers);
  // 50 positions are two chunks of subsampling, of three products each; each quarter of a layer has two.
  for (int quarter = 0; quarter < 4 * file.shape.layers; ++quarter) {
    const test::CountingAbort abort(2 + quarter);
    const std::uint64_t before = accelerator::computed_products(store.get());
    CHECK_THROWS_AS(encoder.encode(mel, &abort), EngineError);
    CHECK(accelerator::computed_products(store.get()) - before ==
          static_cast<std::uint64_t>(6 + 2 * quarter));
  }
}

TEST_CASE("accelerated Parakeet slots side by side and on two threads say what one says alone") {
  const test::SmallParakeet file;
  const auto model = load(file, AcceleratorMode::kAuto);
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
    if (i % 2 == 0) CHECK(together[i] == alone[i]);
    REQUIRE(together[i].size() == alone[i].size());
    for (std::size_t token = 0; token < alone[i].size(); ++token) {
      CHECK(together[i][token].first == alone[i][token].first);
      // Two threads may add up a product in other parts than one.
      CHECK(together[i][token].second == doctest::Approx(alone[i][token].second).epsilon(1e-4));
    }
  }
}

TEST_CASE("accelerated: silence, not-a-numbers, too little and the loudest sound give text that is text") {
  const test::SmallParakeet file;
  const test::SmallParakeet least(least_shape());
  const auto of_least = load(least, AcceleratorMode::kAuto)->make_slot(1);
  CHECK(of_least->transcribe(noise_window(3, 1), english(), nullptr).timings.encoder_passes == 1);
  const auto slot = load(file, AcceleratorMode::kAuto)->make_slot(1);
  CHECK(slot->transcribe(test::silence(0.1), english(), nullptr).segments.empty());
  CHECK(slot->transcribe(Window{}, english(), nullptr).segments.empty());
  for (const float sample : {0.0f, std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f}) {
    Window window = test::silence(2);
    std::ranges::fill(window.samples, sample);
    const std::string text = test::text_of(slot->transcribe(window, english(), nullptr));
    CHECK(valid_utf8(text) == text);
  }
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          slot->transcribe(test::silence(32), english(), nullptr);
        }) == "the window is longer than the 31 seconds of the model");
  CHECK(test::message_of_error(ErrorCode::kInvalidArgument, [&] {
          load(file, AcceleratorMode::kAuto)->make_slot(0);
        }).starts_with("threads is 0"));
}

TEST_CASE("what a model takes is known before it is packed, however few bytes its file has") {
  if (!has_accelerator()) return;
  for (const std::string weights : {"f16", "q8_0", "q4_k"}) {
    CAPTURE(weights);
    ModelShape shape = test::parakeet_shape("parakeet-0.6b", weights);
    shape.layers = 1;
    const test::SmallParakeet file(shape);
    auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
    const auto known = static_cast<double>(packed_weight_bytes(shape, *store));
    const auto model = AcceleratedModel::load(file.path(), store);
    CHECK(static_cast<double>(model->memory_bytes()) > 0.8 * known);
    CHECK(static_cast<double>(model->memory_bytes()) < 1.1 * known);
    if (weights == "q4_k") CHECK(known > static_cast<double>(model->file().weight_bytes));
  }
}

TEST_CASE("of the published shape weights are held once, and a window in flight takes less than 120 MiB") {
  if (!has_accelerator()) return;
  // Its layers are all alike, and a window is in one of them at a time.
  ModelShape shape = test::parakeet_shape("parakeet-0.6b");
  shape.layers = 1;
  const test::SmallParakeet file(shape);
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  const auto model = AcceleratedModel::load(file.path(), store);
  // Nothing is packed beside them, now or by a window.
  const auto slot = model->make_slot(1);
  const std::size_t before = slot->memory_bytes();
  slot->transcribe(noise_window(30, 1), english(), nullptr);
  CHECK(accelerator::packed_bytes(store.get()) == 0);
  const double operands = static_cast<double>(accelerator::operand_size(store.get())) / 2.0;
  // In the file they have two bytes. The rest is the positions' table for 50 s.
  const auto stored = static_cast<double>(model->file().weight_bytes);
  CHECK(static_cast<double>(model->memory_bytes()) < 1.1 * operands * stored);
  constexpr double kMiB = 1024.0 * 1024.0;
  const double window = static_cast<double>(slot->memory_bytes()) / kMiB;
  MESSAGE("MiB of a window of 30 s: ", window);
  CHECK(window > 10.0);
  CHECK(window < 120.0);
  CHECK(before < slot->memory_bytes());
}

}  // namespace verbatim::parakeet
