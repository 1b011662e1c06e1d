#pragma once

#include <cstdint>
#include <filesystem>

#include "speech/model_tensors.h"

namespace verbatim::bench {

// A CTranslate2 Whisper directory (model.bin, config.json, vocabulary.json) whose encoder has the very
// weights that write_random_model() gives a float16 file of this shape and seed. Its decoder is one layer
// with a vocabulary of a few tokens: enough for CTranslate2 to load it, and no more. Throws
// std::ios_base::failure, std::filesystem::filesystem_error.
void write_ct2_whisper(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& directory);

}  // namespace verbatim::bench
