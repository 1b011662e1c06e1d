#pragma once

#include <span>
#include <vector>

#include "speech/whisper/model/model_reader.h"

namespace verbatim::test {

// Whisper's encoder in double precision, written as in its paper, with plain loops.

// What passes through the encoder on the way.
struct EncodingTrace {
  // The root mean square of each channel: behind each norm, the last included; of each layer's attention before the
  // output product; and between the products of each feed-forward block.
  std::vector<std::vector<double>> norms, attentions, inners;
  // For each layer, the entropy of each head's probabilities in nats, the mean over all positions.
  std::vector<std::vector<double>> entropies;
};

// mel: [mels][2 * positions]. Returns [positions][d]. trace: may be null.
std::vector<double> reference_encoding(const whisper::ModelReader& model, std::span<const float> mel, int positions,
                                       EncodingTrace* trace = nullptr);

// For each decoder layer, the keys and values of cross-attention over that output: [positions][2d].
std::vector<std::vector<double>> reference_cross(const whisper::ModelReader& model, std::span<const double> encoding);

}  // namespace verbatim::test
