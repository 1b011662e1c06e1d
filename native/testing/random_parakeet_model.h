#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "speech/parakeet/model_tensors.h"

namespace verbatim::test {

// Loads and runs within milliseconds: two heads, two layers and two LSTMs of 64 values. Weights as
// file_type() knows them.
parakeet::ModelShape small_parakeet_shape(const std::string& weights = "f16");

// A shape by its name: "parakeet-0.6b", that of Parakeet TDT 0.6B version 3 (8192 pieces), and
// "parakeet-0.6b-v2", of version 2 (English, 1024 pieces); "parakeet-small", and two as small that differ
// from it in all they can: "parakeet-narrow", whose rows only f32 and f16 divide, and "parakeet-wide". Throws
// std::invalid_argument with what is allowed.
parakeet::ModelShape parakeet_shape(const std::string& name, const std::string& weights = "f16");

// The names that parakeet_shape() knows.
std::vector<std::string> parakeet_shapes();

// A Parakeet TDT file of that shape with random weights: what it writes is meaningless, what it costs is
// real. Some of its pieces begin a word, some go on with one, some are punctuation; about every second
// position of the encoder is blank. The same shape and seed give the same bytes on every machine. Holds
// one tensor at a time. Throws std::ios_base::failure.
void write_random_parakeet_model(const parakeet::ModelShape& shape, std::uint32_t seed,
                                 const std::filesystem::path& path);

}  // namespace verbatim::test
