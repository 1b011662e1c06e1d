#pragma once

#include "transformer/gpu/ops.h"
#include "transformer/gpu/sources.h"

namespace verbatim::transformer {

// Shape of an encoder graph: sentences that are padded to the longest.
struct GpuEncoderShape {
  std::size_t sentences = 0;
  // Positions of each.
  std::size_t positions = 0;
  // First of the consecutive slots that take keys and values.
  std::size_t first_slot = 0;
};

// Inputs of an encoder graph, filled before it runs.
struct GpuEncoderInputs {
  // 0 or -infinity [positions, positions, 1, sentences].
  ggml_tensor* mask = nullptr;
  // Rows of the relative position tables [positions * positions]; null without them.
  ggml_tensor* distances = nullptr;
};

// An encoder in ggml's own operations.
class GpuEncoderOps final : public GpuOps, public EncoderOps {
 public:
  GpuEncoderOps(const GpuGraph& graph, const Transformer& model, const GpuWeights& weights, const GpuSources& sources,
                const GpuEncoderInputs& inputs, const GpuEncoderShape& shape);

  ggml_tensor* encoder_attention(ggml_tensor* qkv, const Attention& weights) override;
  void keep_cross(ggml_tensor* key_value, std::size_t layer) override;

 private:
  ggml_tensor* add_encoder_keys(ggml_tensor* scores, ggml_tensor* query, const Attention& weights);
  ggml_tensor* add_encoder_values(ggml_tensor* context, ggml_tensor* mixture, const Attention& weights);

  Heads heads_;
  const GpuSources& sources_;
  const GpuEncoderInputs& inputs_;
  const GpuEncoderShape& shape_;
};

}  // namespace verbatim::transformer
