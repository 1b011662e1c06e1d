#include "transformer/cpu/ops.h"

#include <ggml.h>

#include "transformer/cpu/attention_nodes.h"
#include "transformer/cpu/nodes.h"

namespace verbatim::transformer {
namespace {

void run_node(ggml_tensor* out, int thread, int threads, void* node) {
  static_cast<CpuNode*>(node)->run(out, thread, threads);
}

}  // namespace

CpuOps::CpuOps(ggml_context* context, const Kernels& kernels, const Transformer& model, const CpuWeights& weights,
               const EncoderBatch& batch)
    : context_(context), kernels_(kernels), model_(model), weights_(weights), batch_(&batch), rows_(&batch.rows) {}

CpuOps::CpuOps(ggml_context* context, const Kernels& kernels, const Transformer& model, const CpuWeights& weights,
               const DecoderStep& step, std::size_t most_wanted)
    : context_(context),
      kernels_(kernels),
      model_(model),
      weights_(weights),
      step_(&step),
      rows_(&step.row_count),
      most_wanted_(most_wanted) {}

template <typename Node, typename... Arguments>
ggml_tensor* CpuOps::add(int type, std::size_t width, std::size_t rows, std::initializer_list<ggml_tensor*> inputs,
                         Arguments&&... arguments) {
  std::vector<ggml_tensor*> sources;
  for (ggml_tensor* input : inputs) {
    if (input) sources.push_back(input);
  }
  nodes_.push_back(std::make_unique<Node>(std::forward<Arguments>(arguments)...));
  return ggml_custom_4d(context_, static_cast<ggml_type>(type), static_cast<std::int64_t>(width),
                        static_cast<std::int64_t>(rows), 1, 1, sources.data(), static_cast<int>(sources.size()),
                        run_node, GGML_N_TASKS_MAX, nodes_.back().get());
}

ggml_tensor* CpuOps::quantized(ggml_tensor* x) {
  ggml_tensor*& result = quantized_[x];
  if (!result) {
    const auto depth = static_cast<std::size_t>(x->ne[0]);
    result = add<QuantizeNode>(GGML_TYPE_I8, quantized_row_bytes(depth), static_cast<std::size_t>(x->ne[1]), {x},
                               kernels_, *rows_, model_.round_before_cast);
  }
  return result;
}

ggml_tensor* CpuOps::linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation,
                            ggml_tensor* gate, ggml_tensor* residual) {
  const PackedMatrix& matrix = weights_.get(weights);
  ggml_tensor* input = matrix.type() == ComputeType::kInt8 ? quantized(x) : x;
  return add<LinearNode>(GGML_TYPE_F32, matrix.outputs(), static_cast<std::size_t>(x->ne[1]), {input, gate, residual},
                         kernels_, *rows_, matrix, weights, activation, gate != nullptr, residual != nullptr);
}

ggml_tensor* CpuOps::norm(ggml_tensor* x, const LayerNorm& weights) {
  return add<NormNode>(GGML_TYPE_F32, static_cast<std::size_t>(x->ne[0]), static_cast<std::size_t>(x->ne[1]), {x},
                       kernels_, *rows_, weights);
}

ggml_tensor* CpuOps::scale(ggml_tensor* x, float factor) {
  return add<ScaleNode>(GGML_TYPE_F32, static_cast<std::size_t>(x->ne[0]), static_cast<std::size_t>(x->ne[1]), {x},
                        *rows_, factor);
}

ggml_tensor* CpuOps::encoder_attention(ggml_tensor* qkv, const Attention& weights) {
  const AttentionShape shape{model_.width, static_cast<std::size_t>(model_.encoder.heads)};
  return add<EncoderAttentionNode>(GGML_TYPE_F32, model_.width, static_cast<std::size_t>(qkv->ne[1]), {qkv}, kernels_,
                                   shape, weights, *batch_);
}

ggml_tensor* CpuOps::decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) {
  const AttentionShape shape{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
  ggml_tensor* appended = add<AppendNode>(GGML_TYPE_F32, 1, 1, {qkv}, kernels_, shape, layer, *step_);
  return add<DecoderAttentionNode>(GGML_TYPE_F32, model_.width, static_cast<std::size_t>(qkv->ne[1]), {qkv, appended},
                                   kernels_, shape, weights, layer, *step_);
}

ggml_tensor* CpuOps::cross_attention(ggml_tensor* query, std::size_t layer) {
  const AttentionShape shape{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
  return add<CrossAttentionNode>(GGML_TYPE_F32, model_.width, static_cast<std::size_t>(query->ne[1]), {query}, shape,
                                 layer, *step_);
}

ggml_tensor* CpuOps::report_logits(ggml_tensor* logits) {
  return add<LogitsNode>(GGML_TYPE_F32, 1, 1, {logits}, *step_);
}

void CpuOps::keep_cross(ggml_tensor* key_value, std::size_t) {
  ggml_set_output(key_value);
  kept_cross_.push_back(key_value);
}

ggml_tensor* CpuOps::wanted_rows(ggml_tensor* x) {
  rows_ = &step_->wanted_count;
  return add<GatherNode>(GGML_TYPE_F32, static_cast<std::size_t>(x->ne[0]), most_wanted_, {x}, *step_);
}

}  // namespace verbatim::transformer
