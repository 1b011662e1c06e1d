#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "speech/parakeet/model_tensors.h"

namespace verbatim::test {

// The shape of Parakeet TDT 0.6B, version 2 (English, 1024 pieces) or 3 (8192 pieces), with weights as
// file_type() knows them. Throws std::invalid_argument with what is allowed.
parakeet::ModelShape published_parakeet_shape(int version, const std::string& weights = "f16");

// One that loads and runs within milliseconds: two heads, two layers and two LSTMs of 64 values.
parakeet::ModelShape small_parakeet_shape(const std::string& weights = "f16");

// A Parakeet TDT file of that shape with random weights: what it writes is meaningless, what it costs is
// real. Some of its pieces begin a word, some go on with one, some are punctuation; about every second
// position of the encoder is blank. The same shape and seed give the same bytes on every machine. Throws
// std::ios_base::failure.
void write_random_parakeet_model(const parakeet::ModelShape& shape, std::uint32_t seed,
                                 const std::filesystem::path& path);

}  // namespace verbatim::test
