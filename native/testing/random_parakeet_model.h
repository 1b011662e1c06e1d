#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "speech/parakeet/model_tensors.h"

namespace verbatim::test {

// Loads and runs within milliseconds: two heads, two layers and two LSTMs of 64 values. `weights`: as in file_type().
parakeet::ModelShape small_parakeet_shape(const std::string& weights = "f16");

// A shape by its name. "parakeet-0.6b": Parakeet TDT 0.6B version 3 (8192 pieces). "parakeet-0.6b-v2": version 2
// (English, 1024 pieces). "parakeet-small", and two shapes of its size that differ from it as much as possible:
// "parakeet-narrow", whose rows only f32 and f16 divide, and "parakeet-wide". Throws std::invalid_argument with what is
// allowed.
parakeet::ModelShape parakeet_shape(const std::string& name, const std::string& weights = "f16");

// The names of parakeet_shape().
std::vector<std::string> parakeet_shapes();

// Writes a Parakeet TDT file of that shape with random weights. Its text is meaningless, its cost is real. Some of its
// pieces begin a word, some continue one, some are punctuation. About every second encoder position is blank. The same
// shape and seed give the same bytes on every machine. Holds one tensor at a time. Throws std::ios_base::failure.
void write_random_parakeet_model(const parakeet::ModelShape& shape, std::uint32_t seed,
                                 const std::filesystem::path& path);

}  // namespace verbatim::test
