#pragma once

#include <cstdint>

#include "transformer/gpu/graph.h"
#include "transformer/gpu/weights.h"
#include "transformer/network.h"

namespace verbatim::transformer {

// Row in a table of relative positions for a key's and a query's position.
std::int32_t relative_row(const MatrixView& table, std::size_t key, std::size_t query);

// The network in ggml's own operations, which every ggml backend has.
class GpuOps : public NetworkOps {
 public:
  GpuOps(const GpuGraph& graph, const Transformer& model, const GpuWeights& weights)
      : context_(graph.context.get()), graph_(graph), model_(model), weights_(weights) {}

  ggml_tensor* linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation, ggml_tensor* gate,
                      ggml_tensor* residual) override;
  ggml_tensor* norm(ggml_tensor* x, const LayerNorm& weights) override;
  ggml_tensor* scale(ggml_tensor* x, float factor) override;

 protected:
  struct Heads {
    std::size_t width;
    std::size_t count;
    std::size_t size() const { return width / count; }
  };
  // Part `part` of rows [parts * width, inner * outer] as [head_size, heads, inner, outer]: a view.
  ggml_tensor* heads_of(ggml_tensor* x, std::size_t part, const Heads& heads, std::size_t inner, std::size_t outer);
  ggml_tensor* product(ggml_tensor* a, ggml_tensor* b);
  ggml_tensor* probabilities(ggml_tensor* scores, ggml_tensor* mask, std::size_t head_size);

  ggml_context* context_;
  const GpuGraph& graph_;
  const Transformer& model_;
  const GpuWeights& weights_;
};

}  // namespace verbatim::transformer
