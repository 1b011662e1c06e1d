#pragma once

#include <cstdint>

#include "transformer/gpu/batch.h"
#include "transformer/gpu/weights.h"
#include "transformer/network.h"

namespace verbatim::transformer {

// Row of a table of relative positions for a key's position and a query's.
std::int32_t relative_row(const MatrixView& table, std::size_t key, std::size_t query);

// The network in ggml's own operations, which every ggml backend has.
class GpuOps : public NetworkOps {
 public:
  GpuOps(ggml_context* context, ggml_cgraph* graph, const Transformer& model, const GpuWeights& weights,
         GpuBatch& batch, const GpuShape& shape)
      : context_(context), graph_(graph), model_(model), weights_(weights), batch_(batch), shape_(shape) {}

  ggml_tensor* linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation,
                      ggml_tensor* gate, ggml_tensor* residual) override;
  ggml_tensor* norm(ggml_tensor* x, const LayerNorm& weights) override;
  ggml_tensor* scale(ggml_tensor* x, float factor) override;
  ggml_tensor* encoder_attention(ggml_tensor* qkv, const Attention& weights) override;
  ggml_tensor* decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) override;
  ggml_tensor* cross_attention(ggml_tensor* query, std::size_t layer) override;
  void keep_cross(ggml_tensor* key_value, std::size_t layer) override;

 protected:
  struct Heads {
    std::size_t width;
    std::size_t count;
    std::size_t size() const { return width / count; }
  };
  // Part `part` of rows [parts * width, inner * outer] as [head_size, heads, inner, outer]: a view.
  ggml_tensor* heads_of(ggml_tensor* x, std::size_t part, const Heads& heads, std::size_t inner,
                        std::size_t outer);
  ggml_tensor* product(ggml_tensor* a, ggml_tensor* b);
  ggml_tensor* probabilities(ggml_tensor* scores, ggml_tensor* mask, std::size_t head_size);

  ggml_context* context_;
  ggml_cgraph* graph_;
  const Transformer& model_;
  const GpuWeights& weights_;

 private:
  ggml_tensor* add_encoder_keys(ggml_tensor* scores, ggml_tensor* query, const Attention& weights);
  ggml_tensor* add_encoder_values(ggml_tensor* context, ggml_tensor* weights, const Attention& attention);

  GpuBatch& batch_;
  const GpuShape& shape_;
};

}  // namespace verbatim::transformer
