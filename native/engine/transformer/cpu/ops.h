#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "transformer/cpu/batch.h"
#include "transformer/cpu/weights.h"
#include "transformer/kernels/kernels.h"
#include "transformer/network.h"

struct ggml_context;

namespace verbatim::transformer {

// A node of a CPU graph. run() computes the share of `thread` of `threads`.
class CpuNode {
 public:
  virtual ~CpuNode() = default;
  virtual void run(ggml_tensor* out, int thread, int threads) = 0;
};

// The network in this engine's kernels, as ggml custom nodes. The ops own the nodes and must live as long as the graph.
// Nodes read the batch and its number of rows when they run, so one graph serves every batch up to the size that it was
// built for.
class CpuOps final : public NetworkOps, public EncoderOps, public DecoderOps {
 public:
  // For an encoder or a decoder. Their numbers of rows are at most those of the graph's tensors.
  CpuOps(ggml_context* context, const Kernels& kernels, const Transformer& model, const CpuWeights& weights,
         const EncoderBatch& batch);
  CpuOps(ggml_context* context, const Kernels& kernels, const Transformer& model, const CpuWeights& weights,
         const DecoderStep& step, std::size_t most_wanted);

  ggml_tensor* linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation, ggml_tensor* gate,
                      ggml_tensor* residual) override;
  ggml_tensor* norm(ggml_tensor* x, const LayerNorm& weights) override;
  ggml_tensor* scale(ggml_tensor* x, float factor) override;
  ggml_tensor* encoder_attention(ggml_tensor* qkv, const Attention& weights) override;
  ggml_tensor* decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) override;
  ggml_tensor* cross_attention(ggml_tensor* query, std::size_t layer) override;
  void keep_cross(ggml_tensor* key_value, std::size_t layer) override;
  ggml_tensor* wanted_rows(ggml_tensor* x) override;

  // Adds the node that passes the logits to the step's callback.
  ggml_tensor* report_logits(ggml_tensor* logits);

  // The tensors passed to keep_cross, by layer.
  const std::vector<ggml_tensor*>& kept_cross() const noexcept { return kept_cross_; }

 private:
  template <typename Node, typename... Arguments>
  ggml_tensor* add(int type, std::size_t width, std::size_t rows, std::initializer_list<ggml_tensor*> inputs,
                   Arguments&&... arguments);
  ggml_tensor* quantized(ggml_tensor* x);

  ggml_context* context_;
  const Kernels& kernels_;
  const Transformer& model_;
  const CpuWeights& weights_;
  const EncoderBatch* batch_ = nullptr;
  const DecoderStep* step_ = nullptr;
  // Number of rows of the nodes that are added next.
  const std::size_t* rows_;
  std::size_t most_wanted_ = 0;
  std::deque<std::unique_ptr<CpuNode>> nodes_;
  // Rows that several linear layers read are quantized once.
  std::unordered_map<const ggml_tensor*, ggml_tensor*> quantized_;
  std::vector<ggml_tensor*> kept_cross_;
};

}  // namespace verbatim::transformer
