#pragma once

#include <vector>

#include "transformer/gpu/decoder_plan.h"
#include "transformer/gpu/ops.h"

namespace verbatim::transformer {

// The recorded cross-attention of one layer.
struct GpuRecordedLayer {
  std::size_t layer = 0;
  // Indices of its heads in GpuDecoderShape::recorded.
  std::vector<std::size_t> heads;
  // Input: for each row and head, the index of its weights in the layer's [queries * heads * sources]: [heads * rows].
  ggml_tensor* places = nullptr;
  // The weights at these indices, [positions, heads * rows].
  ggml_tensor* weights = nullptr;
};

// Inputs of a decoder graph, filled before each run, and its results besides the logits.
struct GpuDecoderInputs {
  // Slots that the rows write [rows], and slots that each text reads [past * texts].
  ggml_tensor* write_slots = nullptr;
  ggml_tensor* read_slots = nullptr;
  // 0 or -infinity [past, tokens, 1, texts].
  ggml_tensor* past_mask = nullptr;
  // Rows of the relative position tables [past * rows]; null without them.
  ggml_tensor* distances = nullptr;
  // Rows of the queries [queries * sources], and queries of the rows [rows].
  ggml_tensor* query_rows = nullptr;
  ggml_tensor* row_queries = nullptr;
  // Slots of the sources [sources]; null if they are the first slots.
  ggml_tensor* source_slots = nullptr;
  // 0 or -infinity [positions, 1, 1, sources].
  ggml_tensor* source_mask = nullptr;
  // Rows that want logits [wanted].
  ggml_tensor* wanted = nullptr;
  std::vector<GpuRecordedLayer> recorded;
};

// A decoder in ggml's own operations; each row has its own text and position.
class GpuDecoderOps final : public GpuOps, public DecoderOps {
 public:
  GpuDecoderOps(const GpuGraph& graph, const Transformer& model, const GpuWeights& weights,
                const GpuHistories& histories, const GpuSources& all_sources, GpuDecoderInputs& inputs,
                const GpuDecoderShape& shape);

  ggml_tensor* decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) override;
  ggml_tensor* cross_attention(ggml_tensor* query, std::size_t layer) override;
  ggml_tensor* wanted_rows(ggml_tensor* x) override;

 private:
  ggml_tensor* past_of_texts(ggml_tensor* qkv, std::size_t layer);
  ggml_tensor* add_relative_keys(ggml_tensor* scores, ggml_tensor* qkv, const Attention& weights);
  ggml_tensor* add_relative_values(ggml_tensor* context, ggml_tensor* mixture, const Attention& weights);
  ggml_tensor* of_sources(ggml_tensor* table);
  void record(ggml_tensor* mixture, std::size_t layer);

  Heads heads_;
  const GpuHistories& histories_;
  const GpuSources& all_sources_;
  GpuDecoderInputs& inputs_;
  const GpuDecoderShape& shape_;
};

}  // namespace verbatim::transformer
