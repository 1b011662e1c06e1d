#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "speech/model_tensors.h"

namespace verbatim::whisper {

// The encoder's work on one window in its smallest steps.
struct EncoderStep {
  enum class Kind {
    // Both convolutions and the position embeddings.
    kConvolutions,
    // The two halves of an encoder layer.
    kAttention,
    kFeedForward,
    kFinalNorm,
    // Cross-attention's keys and values of one decoder layer.
    kCross,
  };
  Kind kind = Kind::kConvolutions;
  int layer = 0;
  // Floating-point operations of its products.
  std::uint64_t operations = 0;
};

// The steps in order, for so many positions (1 to 1500).
std::vector<EncoderStep> encoder_steps(const ModelShape& shape, int positions);

// Where units end: unit i is the steps [i == 0 ? 0 : ends[i - 1], ends[i]). A unit has at most the work of a layer of
// Whisper base with 1500 positions, about 50 ms on one thread with bfloat16 products. Half a layer of a wide model is a
// unit of its own and takes longer (large: about 120 ms).
std::vector<std::size_t> unit_ends(const std::vector<EncoderStep>& steps);

}  // namespace verbatim::whisper
