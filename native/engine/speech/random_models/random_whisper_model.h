#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "speech/model_tensors.h"
#include "speech/random_models/weight_traits.h"

namespace verbatim::random_models {

// A published Whisper shape, multilingual: "tiny", "base", "small" or "large-v3-turbo", with weights "f32", "f16",
// "q4_0", "q4_1", "q5_0", "q5_1", "q8_0" or "q2_k" to "q6_k". Throws EngineError (invalid_argument) with what is
// allowed.
ModelShape published_shape(const std::string& name, const std::string& weights = "f16");

// The names of published_shape().
std::vector<std::string> published_shapes();

// The values of one tensor, the same for every type of weights and on every machine. Scaled roughly as those of a
// trained network, so that activations neither vanish nor overflow.
std::vector<float> random_tensor(const std::string& name, const TensorShape& tensor, std::uint32_t seed);

// Writes a Whisper file of that shape with random weights. Its text is meaningless, its cost is real. The same shape
// and seed give the same bytes on every machine. With `text_tokens` above 0 every window is decoded to so many text
// tokens (scripted_decoder.h), so that programs without such a limit can be compared. Throws std::ios_base::failure,
// EngineError (invalid_argument).
void write_random_model(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& path,
                        int text_tokens = 0, const WeightTraits& traits = {});

}  // namespace verbatim::random_models
