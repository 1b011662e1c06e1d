#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/model_tensors.h"
#include "speech/random_models/noise.h"
#include "speech/random_models/random_whisper_model.h"
#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"
#include "support/slot_aborts.h"

namespace verbatim {
namespace {

DecodeOptions own_length() {
  DecodeOptions options;
  options.own_length = true;
  return options;
}

std::shared_ptr<const SpeechModel> accelerated() {
  return SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto);
}

std::string transcript(Slot& slot, const test::Clip& clip) {
  return test::text_of(slot.transcribe(test::window_of(clip.file), own_length(), nullptr));
}

// A model with random weights of that type, two layers each.
std::shared_ptr<const SpeechModel> random_model(std::int32_t state, const std::string& weights) {
  ModelShape shape = random_models::published_shape("tiny", weights);
  shape.audio_state = shape.text_state = state;
  shape.audio_heads = shape.text_heads = std::max(1, state / 64);
  shape.audio_layers = shape.text_layers = 2;
  const test::TemporaryFile file("accelerated.bin");
  random_models::write_random_model(shape, 1, file.path());
  return SpeechModel::load(file.path(), "cpu", AcceleratorMode::kAuto);
}

WindowResult transcribe_noise(const std::shared_ptr<const SpeechModel>& model) {
  Window window;
  window.samples = random_models::noise(2 * kSampleRate, 1);
  DecodeOptions options = own_length();
  options.language = "en";
  options.max_tokens = 2;
  options.temperature_increment = 0.0f;
  return Slot(model, 1).transcribe(window, options, nullptr);
}

}  // namespace

TEST_CASE("the accelerator computes with every supported type of weights, however ggml would pack it") {
  const std::string name = accelerator::name(accelerator::make_weight_store(AcceleratorMode::kAuto).get());
  // Six matrices in each encoder layer, keys and values in each decoder layer.
  const std::uint64_t products = name.empty() ? 0 : 6 * 2 + 2 * 2;
  for (const std::string weights :
       {"f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"}) {
    CAPTURE(weights);
    // A row of a k type consists of blocks of 256.
    const auto model = random_model(weights.ends_with("_k") ? 256 : 64, weights);
    CHECK(model->info().accelerator == name);
    const Timings timings = transcribe_noise(model).timings;
    REQUIRE(timings.encoder_passes >= 1);
    CHECK(accelerator::computed_products(model->packed_weights().get()) ==
          products * static_cast<std::uint64_t>(timings.encoder_passes));
  }
}

TEST_CASE("a model names its accelerator, and its memory counts the packed weights") {
  const auto model = accelerated();
  CHECK(model->info().accelerator == accelerator::name(model->packed_weights().get()));
  CHECK(test::bundled_model()->info().accelerator.empty());
  if (!model->packed_weights()) {
    CHECK(model->info().memory_bytes == test::bundled_model()->info().memory_bytes);
    return;
  }
  const auto exact = SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kFloat32);
  CHECK(exact->info().accelerator == "onednn float32");
  CHECK(exact->info().memory_bytes >= model->info().memory_bytes);
  CHECK(model->info().memory_bytes > test::bundled_model()->info().memory_bytes);
  CHECK(accelerator::packed_bytes(model->packed_weights().get()) == 0);
  Slot slot(model, 1);
  DecodeOptions options = own_length();
  // A long prompt must not cause the decoder's own weights to be packed.
  for (int i = 0; i < 120; ++i) options.initial_prompt += " Hoy es domingo.";
  slot.transcribe(test::window_of(test::sentences().front().file), options, nullptr);
  const auto packed = static_cast<double>(accelerator::packed_bytes(model->packed_weights().get()));
  const auto counted = static_cast<double>(model->info().memory_bytes - test::bundled_model()->info().memory_bytes);
  CHECK(packed > 0.5 * counted);
  CHECK(packed < 1.05 * counted);
  CHECK(slot.memory_bytes() > Slot(test::bundled_model(), 1).memory_bytes());
}

TEST_CASE("an abort stops accelerated work within a step and leaves the slot as new") {
  const auto model = accelerated();
  const test::Clip clip = test::sentences().front();
  const std::string expected = [&] {
    Slot fresh(model, 1);
    return transcript(fresh, clip);
  }();
  Slot slot(model, 1);
  // No decoding is likely enough, so every temperature is tried.
  DecodeOptions every_temperature;
  every_temperature.log_prob_threshold = 0.0f;
  test::check_aborts(slot, test::window_of(clip.file), every_temperature,
                     [&] { CHECK(transcript(slot, clip) == expected); });
}

TEST_CASE("accelerated transcripts have about whisper.cpp's word error rate") {
  Slot with(accelerated(), 1);
  Slot without(test::bundled_model(), 1);
  std::size_t words = 0;
  std::size_t errors_with = 0;
  std::size_t errors_without = 0;
  std::size_t same = 0;
  for (const test::Clip& clip : test::sentences()) {
    const std::string fast = transcript(with, clip);
    const std::string plain = transcript(without, clip);
    words += test::words_of(clip.text).size();
    errors_with += test::word_errors(clip.text, fast);
    errors_without += test::word_errors(clip.text, plain);
    same += fast == plain ? 1 : 0;
  }
  MESSAGE("words ", words, ", errors with ", errors_with, ", without ", errors_without, ", same transcripts ", same,
          " of ", test::sentences().size());
  // A few sentences of so small a set may differ, depending on the processor. bench/RESULTS-encoder.md has the word
  // error rates of a larger set.
  CHECK(errors_with <= errors_without + 3);
  CHECK(static_cast<double>(same) >= 0.75 * static_cast<double>(test::sentences().size()));
}

TEST_CASE("accelerated slots give the same text in parallel and alone") {
  const auto model = accelerated();
  const std::vector<test::Clip> clips = test::sentences();
  const std::size_t count = std::min<std::size_t>(clips.size(), 4);
  for (std::size_t i = 0; i < count; ++i) test::window_of(clips[i].file);
  std::vector<std::string> alone(count);
  {
    Slot slot(accelerated(), 1);
    for (std::size_t i = 0; i < count; ++i) alone[i] = transcript(slot, clips[i]);
  }
  std::vector<std::vector<std::string>> together(2, std::vector<std::string>(count));
  std::vector<std::thread> threads;
  for (std::vector<std::string>& texts : together) {
    threads.emplace_back([&] {
      Slot slot(model, 1);
      for (std::size_t i = 0; i < count; ++i) texts[i] = transcript(slot, clips[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(together[0] == alone);
  CHECK(together[1] == alone);
}

}  // namespace verbatim
