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
  ggml_tensor* y = product(layer.parts.front(), x);
  for (std::size_t i = 1; i < layer.parts.size(); ++i) y = ggml_concat(context_, y, product(layer.parts[i], x), 0);
  if (layer.correction) y = ggml_mul(context_, y, layer.correction);
  if (layer.bias) y = ggml_add(context_, y, layer.bias);
  if (activation) y = activate(context_, y, *activation);
  if (gate) y = ggml_mul(context_, y, gate);
  return residual ? ggml_add(context_, y, residual) : y;
}

ggml_tensor* GpuOps::norm(ggml_tensor* x, const LayerNorm& weights) {
  const GpuNorm& layer = weights_.get(weights);
  ggml_tensor* y = layer.beta ? ggml_norm(context_, x, weights.epsilon) : ggml_rms_norm(context_, x, weights.epsilon);
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

}  // namespace verbatim::transformer
