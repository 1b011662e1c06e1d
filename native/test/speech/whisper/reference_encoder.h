#pragma once

#include <span>
#include <vector>

#include "speech/whisper/model_reader.h"

namespace verbatim::test {

// Whisper's encoder in double precision, written as its paper draws it, one loop after the other.

// mel: [mels][2 * positions]. The output, [positions][d].
std::vector<double> reference_encoding(const whisper::ModelReader& model, std::span<const float> mel,
                                       int positions);

// For each layer of the decoder, the keys and values of cross-attention of that output: [positions][2d].
std::vector<std::vector<double>> reference_cross(const whisper::ModelReader& model,
                                                 std::span<const double> encoding);

}  // namespace verbatim::test
