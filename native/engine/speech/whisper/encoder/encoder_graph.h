#pragma once

#include <ggml.h>

#include <span>
#include <utility>
#include <vector>

#include "speech/whisper/encoder/encoder_plan.h"
#include "speech/whisper/model/encoder_weights.h"

namespace verbatim::whisper {

// Frames of zeros before and behind the mel frames in EncoderGraph::mel.
inline constexpr int kLeadingFrames = 2;
inline constexpr int kTrailingFrames = 1;

// One unit of the encoder as a ggml graph, for any backend. The architecture is Whisper's own (whisper.cpp's
// whisper_build_graph_conv, _encoder and _cross), except that attention covers the window's positions and no padding.
struct EncoderGraph {
  ggml_cgraph* graph = nullptr;
  // Input, float32 [mels, frames]; null unless the unit has the convolutions.
  ggml_tensor* mel = nullptr;
  // Decoder layer, and its keys and values [2d, positions].
  std::vector<std::pair<int, ggml_tensor*>> cross;
};

// activation: [d, positions], the output of the units before and of this one. context: without memory for data.
EncoderGraph build_encoder_unit(ggml_context* context, const EncoderWeights& weights, const ModelShape& shape,
                                std::span<const EncoderStep> steps, ggml_tensor* activation);

// Most memory that build_encoder_unit() takes of a context, and most nodes of its graph.
std::size_t encoder_graph_bytes() noexcept;
inline constexpr std::size_t kEncoderGraphNodes = 512;

}  // namespace verbatim::whisper
