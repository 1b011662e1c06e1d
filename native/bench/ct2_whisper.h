#pragma once

#include <cstdint>
#include <filesystem>

#include "speech/model_tensors.h"
#include "speech/random_models/weight_traits.h"

namespace verbatim::bench {

// Writes a CTranslate2 Whisper directory (model.bin, config.json, vocabulary.json) with exactly the weights of
// write_random_model() for a float16 file of this shape, seed, number of scripted text tokens and traits. CTranslate2
// converts them to the type of computation as it loads them. The shape must be multilingual. Throws
// std::ios_base::failure, std::filesystem::filesystem_error, EngineError (invalid_argument).
void write_ct2_whisper(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& directory,
                       int text_tokens = 0, const random_models::WeightTraits& traits = {});

}  // namespace verbatim::bench
