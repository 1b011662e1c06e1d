#include "transformer/gpu/encoder_ops.h"

#include <ggml.h>

namespace verbatim::transformer {

GpuEncoderOps::GpuEncoderOps(const GpuGraph& graph, const Transformer& model, const GpuWeights& weights,
                             const GpuSources& sources, const GpuEncoderInputs& inputs, const GpuEncoderShape& shape)
    : GpuOps(graph, model, weights),
      heads_{model.width, static_cast<std::size_t>(model.encoder.heads)},
      sources_(sources),
      inputs_(inputs),
      shape_(shape) {}

ggml_tensor* GpuEncoderOps::encoder_attention(ggml_tensor* qkv, const Attention& weights) {
  const std::size_t source = shape_.positions;
  const std::size_t sentences = shape_.sentences;
  ggml_tensor* raw_query = heads_of(qkv, 0, heads_, source, sentences);
  ggml_tensor* query = ggml_cont(context_, ggml_permute(context_, raw_query, 0, 2, 1, 3));
  ggml_tensor* key =
      ggml_cont(context_, ggml_permute(context_, heads_of(qkv, 1, heads_, source, sentences), 0, 2, 1, 3));
  ggml_tensor* value =
      ggml_cont(context_, ggml_permute(context_, heads_of(qkv, 2, heads_, source, sentences), 1, 2, 0, 3));
  ggml_tensor* scores = product(key, query);
  const bool is_relative = !weights.relative_keys.empty();
  if (is_relative) scores = add_encoder_keys(scores, raw_query, weights);
  ggml_tensor* mixture = probabilities(scores, inputs_.mask, heads_.size());
  ggml_tensor* context = product(value, mixture);
  if (is_relative) context = add_encoder_values(context, mixture, weights);
  context = ggml_permute(context_, context, 0, 2, 1, 3);
  return ggml_cont_2d(context_, context, dim(model_.width), dim(source * sentences));
}

// Each query times the key vectors of its distances; all queries at one position share them.
ggml_tensor* GpuEncoderOps::add_encoder_keys(ggml_tensor* scores, ggml_tensor* query, const Attention& weights) {
  const std::int64_t size = query->ne[0], heads = query->ne[1], source = query->ne[2], sentences = query->ne[3];
  ggml_tensor* rows = ggml_get_rows(context_, weights_.get(weights.relative_keys), inputs_.distances);
  rows = ggml_reshape_3d(context_, rows, size, source, source);
  ggml_tensor* by_position = ggml_cont(context_, ggml_permute(context_, query, 0, 1, 3, 2));
  ggml_tensor* products = product(rows, ggml_reshape_3d(context_, by_position, size, heads * sentences, source));
  products = ggml_reshape_4d(context_, products, source, heads, sentences, source);
  return ggml_add(context_, scores, ggml_cont(context_, ggml_permute(context_, products, 0, 2, 3, 1)));
}

ggml_tensor* GpuEncoderOps::add_encoder_values(ggml_tensor* context, ggml_tensor* mixture, const Attention& weights) {
  const std::int64_t size = context->ne[0], source = mixture->ne[0], heads = mixture->ne[2], sentences = mixture->ne[3];
  ggml_tensor* rows = ggml_get_rows(context_, weights_.get(weights.relative_values), inputs_.distances);
  rows = ggml_permute(context_, ggml_reshape_3d(context_, rows, size, source, source), 1, 0, 2, 3);
  ggml_tensor* by_position = ggml_cont(context_, ggml_permute(context_, mixture, 0, 3, 1, 2));
  by_position = ggml_reshape_3d(context_, by_position, source, heads * sentences, source);
  ggml_tensor* products = product(ggml_cont(context_, rows), by_position);
  products = ggml_reshape_4d(context_, products, size, heads, sentences, source);
  return ggml_add(context_, context, ggml_cont(context_, ggml_permute(context_, products, 0, 2, 3, 1)));
}

void GpuEncoderOps::keep_cross(ggml_tensor* key_value, std::size_t layer) {
  sources_.add_write(context_, graph_.nodes, shape_.first_slot, shape_.sentences, layer, 0, key_value);
}

}  // namespace verbatim::transformer
