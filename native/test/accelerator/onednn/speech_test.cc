// Compiled only in builds with oneDNN.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "accelerator/accelerator.h"
#include "speech/model_tensors.h"
#include "speech/random_models/noise.h"
#include "speech/random_models/random_whisper_model.h"
#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"

namespace verbatim {
namespace {

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
  DecodeOptions options = test::own_length();
  options.language = "en";
  options.max_tokens = 2;
  options.temperature_increment = 0.0f;
  return Slot(model, 1).transcribe(window, options, nullptr);
}

}  // namespace

TEST_CASE("the accelerator computes with every supported type of weights, however ggml would pack it") {
  const std::string name = accelerator::name(accelerator::make_weight_store(AcceleratorMode::kAuto).get());
  REQUIRE(!name.empty());
  // Six matrices in each encoder layer, keys and values in each decoder layer.
  constexpr std::uint64_t kProducts = 6 * 2 + 2 * 2;
  for (const std::string weights :
       {"f16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"}) {
    CAPTURE(weights);
    // A row of a k type consists of blocks of 256.
    const auto model = random_model(weights.ends_with("_k") ? 256 : 64, weights);
    CHECK(model->info().accelerator == name);
    const Timings timings = transcribe_noise(model).timings;
    REQUIRE(timings.encoder_passes >= 1);
    CHECK(accelerator::computed_products(model->packed_weights().get()) ==
          kProducts * static_cast<std::uint64_t>(timings.encoder_passes));
  }
}

TEST_CASE("the memory of an accelerated model counts the packed weights") {
  const auto model = SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto);
  REQUIRE(model->packed_weights() != nullptr);
  const auto exact = SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kFloat32);
  CHECK(exact->info().accelerator == "onednn float32");
  CHECK(exact->info().memory_bytes >= model->info().memory_bytes);
  CHECK(model->info().memory_bytes > test::bundled_model()->info().memory_bytes);
  CHECK(accelerator::packed_bytes(model->packed_weights().get()) == 0);
  Slot slot(model, 1);
  DecodeOptions options = test::own_length();
  // A long prompt must not cause the decoder's own weights to be packed.
  for (int i = 0; i < 120; ++i) options.initial_prompt += " Hoy es domingo.";
  slot.transcribe(test::window_of(test::sentences().front().file), options, nullptr);
  const auto packed = static_cast<double>(accelerator::packed_bytes(model->packed_weights().get()));
  const auto counted = static_cast<double>(model->info().memory_bytes - test::bundled_model()->info().memory_bytes);
  CHECK(packed > 0.5 * counted);
  CHECK(packed < 1.05 * counted);
  CHECK(slot.memory_bytes() > Slot(test::bundled_model(), 1).memory_bytes());
}

}  // namespace verbatim
