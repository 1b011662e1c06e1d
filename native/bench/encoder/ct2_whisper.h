#pragma once

#include <cstdint>
#include <filesystem>

#include "speech/model_tensors.h"

namespace verbatim::bench {

// Writes a CTranslate2 Whisper directory (model.bin, config.json, vocabulary.json). Its encoder has exactly the weights
// of write_random_model() for a float16 file of this shape and seed. Its decoder has one layer and a vocabulary of a
// few tokens, just enough for CTranslate2 to load it. Throws std::ios_base::failure, std::filesystem::filesystem_error.
void write_ct2_whisper(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& directory);

}  // namespace verbatim::bench
