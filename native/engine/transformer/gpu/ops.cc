#include "transformer/gpu/ops.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>

#include "transformer/gpu/graph.h"

namespace verbatim::transformer {
namespace {

ggml_tensor* activate(ggml_context* context, ggml_tensor* x, Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return ggml_relu(context, x);
    case Activation::kGeluTanh:
      return ggml_gelu(context, x);
    case Activation::kSwish:
      return ggml_silu(context, x);
    case Activation::kGelu:
      return ggml_gelu_erf(context, x);
    case Activation::kGeluSigmoid:
      return ggml_gelu_quick(context, x);
    case Activation::kTanh:
      return ggml_tanh(context, x);
    case Activation::kSigmoid:
      return ggml_sigmoid(context, x);
  }
  return x;
}

}  // namespace

std::int32_t relative_row(const MatrixView& table, std::size_t key, std::size_t query) {
  const std::int64_t furthest = dim(table.rows / 2);
  return static_cast<std::int32_t>(std::clamp(dim(key) - dim(query), -furthest, furthest) + furthest);
}

ggml_tensor* GpuOps::product(ggml_tensor* a, ggml_tensor* b) {
  ggml_tensor* result = ggml_mul_mat(context_, a, b);
  ggml_mul_mat_set_prec(result, GGML_PREC_F32);
  return result;
}

ggml_tensor* GpuOps::linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation,
                            ggml_tensor* gate, ggml_tensor* residual) {
  const GpuLinear& layer = weights_.get(weights);
  ggml_tensor* y = product(layer.weight, x);
  if (layer.correction) y = ggml_mul(context_, y, layer.correction);
  if (layer.bias) y = ggml_add(context_, y, layer.bias);
  if (activation) y = activate(context_, y, *activation);
  if (gate) y = ggml_mul(context_, y, gate);
  return residual ? ggml_add(context_, y, residual) : y;
}

ggml_tensor* GpuOps::norm(ggml_tensor* x, const LayerNorm& weights) {
  const GpuNorm& layer = weights_.get(weights);
  ggml_tensor* y =
      layer.beta ? ggml_norm(context_, x, weights.epsilon) : ggml_rms_norm(context_, x, weights.epsilon);
  y = ggml_mul(context_, y, layer.gamma);
  return layer.beta ? ggml_add(context_, y, layer.beta) : y;
}

ggml_tensor* GpuOps::scale(ggml_tensor* x, float factor) { return ggml_scale(context_, x, factor); }

ggml_tensor* GpuOps::heads_of(ggml_tensor* x, std::size_t part, const Heads& heads, std::size_t inner,
                              std::size_t outer) {
  const std::size_t row = x->nb[1];
  return ggml_view_4d(context_, x, dim(heads.size()), dim(heads.count), dim(inner), dim(outer),
                      heads.size() * sizeof(float), row, row * inner, part * heads.width * sizeof(float));
}

ggml_tensor* GpuOps::probabilities(ggml_tensor* scores, ggml_tensor* mask, std::size_t head_size) {
  return ggml_soft_max_ext(context_, scores, mask, 1.0f / std::sqrt(static_cast<float>(head_size)), 0.0f);
}

ggml_tensor* GpuOps::encoder_attention(ggml_tensor* qkv, const Attention& weights) {
  const Heads heads{model_.width, static_cast<std::size_t>(model_.encoder.heads)};
  const std::size_t source = shape_.source;
  const std::size_t sentences = shape_.sentences;
  ggml_tensor* raw_query = heads_of(qkv, 0, heads, source, sentences);
  ggml_tensor* query = ggml_cont(context_, ggml_permute(context_, raw_query, 0, 2, 1, 3));
  ggml_tensor* key =
      ggml_cont(context_, ggml_permute(context_, heads_of(qkv, 1, heads, source, sentences), 0, 2, 1, 3));
  ggml_tensor* value =
      ggml_cont(context_, ggml_permute(context_, heads_of(qkv, 2, heads, source, sentences), 1, 2, 0, 3));
  ggml_tensor* scores = product(key, query);
  const bool is_relative = !weights.relative_keys.empty();
  if (is_relative) scores = add_encoder_keys(scores, raw_query, weights);
  ggml_tensor* mixture = probabilities(scores, batch_.source_mask, heads.size());
  ggml_tensor* context = product(value, mixture);
  if (is_relative) context = add_encoder_values(context, mixture, weights);
  context = ggml_permute(context_, context, 0, 2, 1, 3);
  return ggml_cont_2d(context_, context, dim(model_.width), dim(source * sentences));
}

// Each query times the key vectors of its distances; the queries of one position share them.
ggml_tensor* GpuOps::add_encoder_keys(ggml_tensor* scores, ggml_tensor* query, const Attention& weights) {
  const std::int64_t size = query->ne[0], heads = query->ne[1], source = query->ne[2],
                     sentences = query->ne[3];
  ggml_tensor* rows = ggml_get_rows(context_, weights_.get(weights.relative_keys), batch_.distances);
  rows = ggml_reshape_3d(context_, rows, size, source, source);
  ggml_tensor* by_position = ggml_cont(context_, ggml_permute(context_, query, 0, 1, 3, 2));
  ggml_tensor* products =
      product(rows, ggml_reshape_3d(context_, by_position, size, heads * sentences, source));
  products = ggml_reshape_4d(context_, products, source, heads, sentences, source);
  return ggml_add(context_, scores, ggml_cont(context_, ggml_permute(context_, products, 0, 2, 3, 1)));
}

ggml_tensor* GpuOps::add_encoder_values(ggml_tensor* context, ggml_tensor* mixture,
                                        const Attention& weights) {
  const std::int64_t size = context->ne[0], source = mixture->ne[0], heads = mixture->ne[2],
                     sentences = mixture->ne[3];
  ggml_tensor* rows = ggml_get_rows(context_, weights_.get(weights.relative_values), batch_.distances);
  rows = ggml_permute(context_, ggml_reshape_3d(context_, rows, size, source, source), 1, 0, 2, 3);
  ggml_tensor* by_position = ggml_cont(context_, ggml_permute(context_, mixture, 0, 3, 1, 2));
  by_position = ggml_reshape_3d(context_, by_position, source, heads * sentences, source);
  ggml_tensor* products = product(ggml_cont(context_, rows), by_position);
  products = ggml_reshape_4d(context_, products, size, heads, sentences, source);
  return ggml_add(context_, context, ggml_cont(context_, ggml_permute(context_, products, 0, 2, 3, 1)));
}

ggml_tensor* GpuOps::decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) {
  const Heads heads{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
  const std::size_t rows = shape_.rows();
  const std::size_t steps = shape_.steps;
  ggml_tensor* fresh =
      ggml_view_2d(context_, qkv, dim(2 * model_.width), dim(rows), qkv->nb[1], model_.width * sizeof(float));
  ggml_tensor* cache = ggml_set_rows(context_, batch_.cache[layer], fresh, batch_.write_rows);
  // Every row gathers its own past: beams are reordered by the indices alone.
  ggml_tensor* past = ggml_get_rows(context_, cache, batch_.read_rows);
  ggml_tensor* key =
      ggml_cont(context_, ggml_permute(context_, heads_of(past, 0, heads, steps, rows), 0, 2, 1, 3));
  ggml_tensor* value =
      ggml_cont(context_, ggml_permute(context_, heads_of(past, 1, heads, steps, rows), 1, 2, 0, 3));
  ggml_tensor* query = ggml_cont(context_, heads_of(qkv, 0, heads, 1, rows));
  const auto flat = [&](ggml_tensor* x) {
    return ggml_reshape_2d(context_, x, x->ne[0], dim(heads.count * rows));
  };
  const auto split = [&](ggml_tensor* x) {
    return ggml_reshape_4d(context_, x, x->ne[0], 1, dim(heads.count), dim(rows));
  };
  ggml_tensor* scores = product(key, split(query));
  const bool is_relative = !weights.relative_keys.empty();
  if (is_relative) {
    ggml_tensor* table = ggml_get_rows(context_, weights_.get(weights.relative_keys), batch_.distances);
    scores = ggml_add(context_, scores, split(product(table, flat(query))));
  }
  ggml_tensor* mixture = probabilities(scores, batch_.step_mask, heads.size());
  ggml_tensor* context = product(value, mixture);
  if (is_relative) {
    ggml_tensor* table = ggml_get_rows(context_, weights_.get(weights.relative_values), batch_.distances);
    table = ggml_cont(context_, ggml_transpose(context_, table));
    context = ggml_add(context_, context, split(product(table, flat(mixture))));
  }
  return ggml_reshape_2d(context_, context, dim(model_.width), dim(rows));
}

ggml_tensor* GpuOps::cross_attention(ggml_tensor* query, std::size_t layer) {
  const Heads heads{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
  const auto first = [&](ggml_tensor* x) {
    return ggml_view_4d(context_, x, x->ne[0], x->ne[1], x->ne[2], dim(shape_.sentences), x->nb[1], x->nb[2],
                        x->nb[3], 0);
  };
  // The beams of a sentence are its queries: they share its keys and values.
  ggml_tensor* queries =
      ggml_permute(context_, heads_of(query, 0, heads, shape_.beams, shape_.sentences), 0, 2, 1, 3);
  ggml_tensor* scores = product(first(batch_.cross_keys[layer]), ggml_cont(context_, queries));
  ggml_tensor* mixture = probabilities(scores, batch_.source_mask, heads.size());
  if (layer == model_.alignment_layer) batch_.alignment = mixture;
  ggml_tensor* context = product(first(batch_.cross_values[layer]), mixture);
  context = ggml_permute(context_, context, 0, 2, 1, 3);
  return ggml_cont_2d(context_, context, dim(model_.width), dim(shape_.rows()));
}

void GpuOps::keep_cross(ggml_tensor* key_value, std::size_t layer) {
  const Heads heads{model_.width, static_cast<std::size_t>(model_.decoder.heads)};
  ggml_tensor* key = heads_of(key_value, 0, heads, shape_.source, shape_.sentences);
  ggml_tensor* value = heads_of(key_value, 1, heads, shape_.source, shape_.sentences);
  key = ggml_permute(context_, key, 0, 2, 1, 3);
  value = ggml_permute(context_, value, 1, 2, 0, 3);
  ggml_build_forward_expand(graph_, ggml_cpy(context_, key, batch_.cross_keys[layer]));
  ggml_build_forward_expand(graph_, ggml_cpy(context_, value, batch_.cross_values[layer]));
}

}  // namespace verbatim::transformer
