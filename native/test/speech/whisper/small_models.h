#pragma once

#include <filesystem>
#include <string>

#include "speech/random_models/random_whisper_model.h"
#include "testing/temporary_directory.h"

namespace verbatim::test {

struct SmallModelOptions {
  std::string weights = "f16";
  // A multiple of 256 for q2_k to q6_k.
  std::int32_t width = 256;
  std::int32_t heads = 4;
  std::int32_t audio_layers = 2;
  std::int32_t text_layers = 2;
  std::int32_t mels = 80;
  std::int32_t vocabulary = 51865;
  random_models::WeightTraits traits{};
};

// A narrow and shallow file of random weights that exists as long as the object.
struct SmallModel {
  explicit SmallModel(const SmallModelOptions& options = {})
      : shape(random_models::published_shape("tiny", options.weights)) {
    shape.audio_state = shape.text_state = options.width;
    shape.audio_heads = shape.text_heads = options.heads;
    shape.audio_layers = options.audio_layers;
    shape.text_layers = options.text_layers;
    shape.mels = options.mels;
    shape.vocabulary = options.vocabulary;
    random_models::write_random_model(shape, seed, path(), 0, options.traits);
  }

  std::filesystem::path path() const { return directory.path() / "small.bin"; }

  ModelShape shape;
  std::uint32_t seed = 11;
  TemporaryDirectory directory;
};

}  // namespace verbatim::test
