#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "speech/model_tensors.h"

namespace verbatim::bench {

// A published Whisper shape: "tiny", "base", "small" or "large-v3-turbo", multilingual, float16. Throws
// std::invalid_argument with the allowed names.
ModelShape published_shape(const std::string& name);

// A Whisper file of that shape with random weights: what it writes is meaningless, what it costs is real. The
// weights are scaled as a trained network's roughly are, so that activations neither vanish nor overflow. The
// same shape and seed give the same bytes on every machine. Throws std::ios_base::failure.
void write_random_model(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& path);

}  // namespace verbatim::bench
