#pragma once

#include <span>
#include <vector>

#include "speech/whisper/model/model_reader.h"

namespace verbatim::test {

// Whisper's encoder in double precision, written as in its paper, with plain loops.

// mel: [mels][2 * positions]. Returns [positions][d].
std::vector<double> reference_encoding(const whisper::ModelReader& model, std::span<const float> mel, int positions);

// For each decoder layer, the keys and values of cross-attention over that output: [positions][2d].
std::vector<std::vector<double>> reference_cross(const whisper::ModelReader& model, std::span<const double> encoding);

}  // namespace verbatim::test
