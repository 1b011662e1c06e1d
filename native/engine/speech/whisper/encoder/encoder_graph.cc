#include "speech/whisper/encoder/encoder_graph.h"

#include <cmath>

namespace verbatim::whisper {
namespace {

constexpr float kNormEpsilon = 1e-5f;
constexpr std::int64_t kKernelFrames = 3;

class Builder {
 public:
  Builder(ggml_context* context, const EncoderWeights& weights, const ModelShape& shape, ggml_tensor* activation)
      : context_(context), weights_(weights), shape_(shape), positions_(activation->ne[1]), x_(activation) {
    unit_.graph = ggml_new_graph_custom(context_, kEncoderGraphNodes, false);
  }

  void add(const EncoderStep& step) {
    const auto layer = static_cast<std::size_t>(step.layer);
    switch (step.kind) {
      case EncoderStep::Kind::kConvolutions:
        return convolutions();
      case EncoderStep::Kind::kAttention:
        return attention(weights_.layers[layer]);
      case EncoderStep::Kind::kFeedForward:
        return feed_forward(weights_.layers[layer]);
      case EncoderStep::Kind::kFinalNorm:
        x_ = norm(weights_.final_norm);
        return;
      case EncoderStep::Kind::kCross:
        return cross(step.layer);
    }
  }

  EncoderGraph finish(ggml_tensor* activation) {
    if (x_ != activation) ggml_build_forward_expand(unit_.graph, ggml_cpy(context_, x_, activation));
    return std::move(unit_);
  }

 private:
  ggml_tensor* linear(ggml_tensor* input, const LinearTensors& weights) {
    return ggml_add(context_, product(weights.weight, input), weights.bias);
  }

  ggml_tensor* product(ggml_tensor* left, ggml_tensor* right) {
    ggml_tensor* const result = ggml_mul_mat(context_, left, right);
    if (weights_.in_float32) ggml_mul_mat_set_prec(result, GGML_PREC_F32);
    return result;
  }

  ggml_tensor* norm(const NormTensors& weights) {
    ggml_tensor* const normal = ggml_norm(context_, x_, kNormEpsilon);
    return ggml_add(context_, ggml_mul(context_, normal, weights.gain), weights.bias);
  }

  // `count` groups of three neighbouring frames that begin `stride` frames apart. The frames are contiguous in memory,
  // so the groups are rows that overlap. ggml's views do not overlap, so the width is set by hand. Devices copy rows
  // with their strides and refuse such a tensor.
  ggml_tensor* frame_windows(ggml_tensor* frames, std::int64_t count, std::size_t stride) {
    const auto from = [&](std::size_t first) {
      return ggml_view_2d(context_, frames, frames->ne[0], count, stride * frames->nb[1], first * frames->nb[1]);
    };
    if (!weights_.takes_overlapping_rows)
      return ggml_concat(context_, ggml_concat(context_, from(0), from(1), 0), from(2), 0);
    ggml_tensor* const windows = from(0);
    windows->ne[0] *= kKernelFrames;
    return windows;
  }

  ggml_tensor* convolution(ggml_tensor* frames, const LinearTensors& kernel, std::int64_t count, std::size_t stride) {
    return ggml_gelu(context_, linear(frame_windows(frames, count, stride), kernel));
  }

  // The first convolution begins one frame early. That frame's output is zeroed and serves as the second convolution's
  // padding.
  void convolutions() {
    unit_.mel =
        ggml_new_tensor_2d(context_, GGML_TYPE_F32, shape_.mels, kLeadingFrames + 2 * positions_ + kTrailingFrames);
    ggml_set_input(unit_.mel);
    ggml_tensor* const first = convolution(unit_.mel, weights_.first_convolution, 2 * positions_ + 1, 1);
    ggml_tensor* const padding = ggml_view_1d(context_, first, first->ne[0], 0);
    ggml_build_forward_expand(unit_.graph, ggml_scale_inplace(context_, padding, 0.0f));
    ggml_tensor* const second = convolution(first, weights_.second_convolution, positions_, 2);
    ggml_tensor* const positions =
        ggml_view_2d(context_, weights_.positions, second->ne[0], positions_, weights_.positions->nb[1], 0);
    x_ = ggml_add(context_, second, positions);
  }

  void attention(const EncoderLayerTensors& layer) {
    const std::int64_t width = x_->ne[0];
    const std::int64_t heads = shape_.audio_heads;
    const std::int64_t head = width / heads;
    ggml_tensor* const qkv = linear(norm(layer.attention_norm), layer.qkv);
    const auto part = [&](std::size_t index) {
      return ggml_view_3d(context_, qkv, head, positions_, heads, qkv->nb[1],
                          static_cast<std::size_t>(head) * qkv->nb[0],
                          index * static_cast<std::size_t>(width) * qkv->nb[0]);
    };
    const float scale = 1.0f / std::sqrt(static_cast<float>(head));
    ggml_tensor* const joined = weights_.has_flash_attention ? flash_attention(part(0), part(1), part(2), scale)
                                                             : plain_attention(part(0), part(1), part(2), scale);
    x_ = ggml_add(context_, linear(joined, layer.out), x_);
  }

  // Of parts [head, positions, heads]; the result is [width, positions].
  ggml_tensor* flash_attention(ggml_tensor* query, ggml_tensor* key, ggml_tensor* value, float scale) {
    ggml_tensor* const attended = ggml_flash_attn_ext(context_, query, key, value, nullptr, scale, 0.0f, 0.0f);
    if (weights_.in_float32) ggml_flash_attn_ext_set_prec(attended, GGML_PREC_F32);
    return ggml_reshape_2d(context_, attended, query->ne[0] * query->ne[2], positions_);
  }

  // The same, with all scores in memory.
  ggml_tensor* plain_attention(ggml_tensor* query, ggml_tensor* key, ggml_tensor* value, float scale) {
    ggml_tensor* const scores = product(ggml_cont(context_, key), ggml_cont(context_, query));
    ggml_tensor* const mixture = ggml_soft_max_ext(context_, scores, nullptr, scale, 0.0f);
    ggml_tensor* const attended = product(ggml_cont(context_, ggml_transpose(context_, value)), mixture);
    return ggml_cont_2d(context_, ggml_permute(context_, attended, 0, 2, 1, 3), query->ne[0] * query->ne[2],
                        positions_);
  }

  void feed_forward(const EncoderLayerTensors& layer) {
    ggml_tensor* const inner = ggml_gelu(context_, linear(norm(layer.feed_forward_norm), layer.up));
    x_ = ggml_add(context_, linear(inner, layer.down), x_);
  }

  void cross(int layer) {
    ggml_tensor* const rows = linear(x_, weights_.cross[static_cast<std::size_t>(layer)]);
    ggml_set_output(rows);
    ggml_build_forward_expand(unit_.graph, rows);
    unit_.cross.emplace_back(layer, rows);
  }

  ggml_context* context_;
  const EncoderWeights& weights_;
  const ModelShape& shape_;
  std::int64_t positions_;
  ggml_tensor* x_;
  EncoderGraph unit_;
};

}  // namespace

EncoderGraph build_encoder_unit(ggml_context* context, const EncoderWeights& weights, const ModelShape& shape,
                                std::span<const EncoderStep> steps, ggml_tensor* activation) {
  Builder builder(context, weights, shape, activation);
  for (const EncoderStep& step : steps) builder.add(step);
  return builder.finish(activation);
}

std::size_t encoder_graph_bytes() noexcept {
  return kEncoderGraphNodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(kEncoderGraphNodes, false);
}

}  // namespace verbatim::whisper
