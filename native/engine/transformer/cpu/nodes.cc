#include "transformer/cpu/nodes.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace verbatim::transformer {
namespace {

// The part of [0, size) that a thread does.
std::pair<std::size_t, std::size_t> share(std::size_t size, int thread, int threads) {
  const auto index = static_cast<std::size_t>(thread);
  const auto count = static_cast<std::size_t>(threads);
  return {size * index / count, size * (index + 1) / count};
}

const float* floats(const ggml_tensor* tensor) { return static_cast<const float*>(tensor->data); }
float* floats(ggml_tensor* tensor) { return static_cast<float*>(tensor->data); }

float score_scale(const AttentionShape& shape) {
  return 1.0f / std::sqrt(static_cast<float>(shape.head_size()));
}

using Gemm = void (*)(const GemmCall&);

Gemm gemm_of(const Kernels& kernels, ComputeType type) {
  switch (type) {
    case ComputeType::kBfloat16:
      return kernels.gemm_bfloat16;
    case ComputeType::kInt8:
      return kernels.gemm_int8;
    // The factory takes no float16.
    case ComputeType::kFloat16:
    case ComputeType::kFloat32:
      break;
  }
  return kernels.gemm_float32;
}

}  // namespace

LinearNode::LinearNode(const Kernels& kernels, const std::size_t& rows, const PackedMatrix& matrix,
                       const Linear& weights, std::optional<Activation> activation, bool has_gate,
                       bool has_residual)
    : gemm_(gemm_of(kernels, matrix.type())),
      rows_(rows),
      matrix_(matrix),
      bias_(weights.bias.empty() ? nullptr : weights.bias.data()),
      activation_(activation ? static_cast<int>(*activation) : -1),
      has_gate_(has_gate),
      has_residual_(has_residual) {}

void LinearNode::run(ggml_tensor* out, int thread, int threads) {
  GemmCall call;
  matrix_.prepare(call);
  call.x = out->src[0]->data;
  call.rows = rows_;
  std::tie(call.first_panel, call.last_panel) = share(matrix_.panels(), thread, threads);
  call.y = floats(out);
  call.ld = matrix_.outputs();
  call.epilogue.bias = bias_;
  call.epilogue.activation = activation_;
  if (has_gate_) call.epilogue.gate = floats(out->src[1]);
  if (has_residual_) call.epilogue.residual = floats(out->src[has_gate_ ? 2 : 1]);
  gemm_(call);
}

void QuantizeNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto depth = static_cast<std::size_t>(x->ne[0]);
  const auto [first, last] = share(rows_, thread, threads);
  auto* quantized = static_cast<std::int8_t*>(out->data);
  for (std::size_t row = first; row < last; ++row) {
    kernels_.quantize_row(floats(x) + row * depth, depth, round_,
                          quantized + row * quantized_row_bytes(depth));
  }
}

void NormNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto size = static_cast<std::size_t>(x->ne[0]);
  const float* beta = weights_.beta.empty() ? nullptr : weights_.beta.data();
  const auto [first, last] = share(rows_, thread, threads);
  for (std::size_t row = first; row < last; ++row) {
    kernels_.layer_norm(floats(x) + row * size, size, weights_.gamma.data(), beta, weights_.epsilon,
                        floats(out) + row * size);
  }
}

void ScaleNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto [first, last] = share(rows_ * static_cast<std::size_t>(x->ne[0]), thread, threads);
  for (std::size_t i = first; i < last; ++i) floats(out)[i] = floats(x)[i] * factor_;
}

void VisitNode::run(ggml_tensor* out, int thread, int threads) {
  ggml_tensor* logits = out->src[0];
  const auto vocabulary = static_cast<std::size_t>(logits->ne[0]);
  const auto [first, last] = share(batch_.rows, thread, threads);
  for (std::size_t row = first; row < last; ++row) {
    (*batch_.visit)(row, {floats(logits) + row * vocabulary, vocabulary});
  }
}

RelativePositions::RelativePositions(const MatrixView& table)
    : columns_(table.columns),
      furthest_(static_cast<std::ptrdiff_t>(table.rows / 2)),
      values_(table.rows * table.columns) {
  for (std::size_t i = 0; i < table.rows; ++i)
    table.read_row(i, std::span(values_).subspan(i * columns_, columns_));
}

const float* RelativePositions::at(std::ptrdiff_t distance) const noexcept {
  const std::ptrdiff_t row = std::clamp(distance, -furthest_, furthest_) + furthest_;
  return values_.data() + static_cast<std::size_t>(row) * columns_;
}

EncoderAttentionNode::EncoderAttentionNode(const Kernels& kernels, AttentionShape shape,
                                           const Attention& weights, const CpuBatch& batch)
    : kernels_(kernels),
      shape_(shape),
      keys_(weights.relative_keys),
      values_(weights.relative_values),
      batch_(batch) {}

void EncoderAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  const float* qkv = floats(out->src[0]);
  const std::size_t stride = 3 * shape_.width;
  const std::size_t head_size = shape_.head_size();
  std::vector<const float*> rows, relative_keys, relative_values;
  std::vector<float> probabilities;
  AttendCall call;
  call.head_size = head_size;
  call.scale = score_scale(shape_);
  const auto [first, last] = share((batch_.offsets.size() - 1) * shape_.heads, thread, threads);
  for (std::size_t task = first; task < last; ++task) {
    const std::size_t begin = batch_.offsets[task / shape_.heads];
    const std::size_t head_offset = task % shape_.heads * head_size;
    call.count = batch_.sentence_length(task / shape_.heads);
    rows.resize(call.count);
    probabilities.resize(attention_room(call.count));
    for (std::size_t j = 0; j < call.count; ++j) rows[j] = qkv + (begin + j) * stride + head_offset;
    call.rows = rows.data();
    call.key_offset = shape_.width;
    call.value_offset = 2 * shape_.width;
    call.probabilities = probabilities.data();
    for (std::size_t i = 0; i < call.count; ++i) {
      if (!keys_.empty()) {
        relative_keys.resize(call.count);
        relative_values.resize(call.count);
        for (std::size_t j = 0; j < call.count; ++j) {
          const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
          relative_keys[j] = keys_.at(distance);
          relative_values[j] = values_.at(distance);
        }
        call.relative_keys = relative_keys.data();
        call.relative_values = relative_values.data();
      }
      call.query = rows[i];
      call.out = floats(out) + (begin + i) * shape_.width + head_offset;
      kernels_.attend(call);
    }
  }
}

DecoderAttentionNode::DecoderAttentionNode(const Kernels& kernels, AttentionShape shape,
                                           const Attention& weights, std::size_t layer, CpuBatch& batch)
    : kernels_(kernels),
      shape_(shape),
      keys_(weights.relative_keys),
      values_(weights.relative_values),
      layer_(layer),
      batch_(batch) {}

void DecoderAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  const std::size_t count = batch_.step + 1;
  const std::size_t head_size = shape_.head_size();
  std::vector<const float*> rows(count), relative_keys, relative_values;
  std::vector<float> probabilities(attention_room(count));
  if (!keys_.empty()) {
    for (std::size_t t = 0; t < count; ++t) {
      const std::ptrdiff_t distance =
          static_cast<std::ptrdiff_t>(t) - static_cast<std::ptrdiff_t>(batch_.step);
      relative_keys.push_back(keys_.at(distance));
      relative_values.push_back(values_.at(distance));
    }
  }
  AttendCall call;
  call.head_size = head_size;
  call.scale = score_scale(shape_);
  call.rows = rows.data();
  call.count = count;
  call.ahead = head_size;
  call.probabilities = probabilities.data();
  call.relative_keys = relative_keys.empty() ? nullptr : relative_keys.data();
  call.relative_values = relative_values.empty() ? nullptr : relative_values.data();
  const auto [first, last] = share(batch_.rows * shape_.heads, thread, threads);
  std::size_t current_row = batch_.rows;
  for (std::size_t task = first; task < last; ++task) {
    const std::size_t row = task / shape_.heads;
    const std::size_t head_offset = task % shape_.heads * head_size;
    if (row != current_row) {
      current_row = row;
      for (std::size_t t = 0; t < count; ++t) {
        const std::size_t index =
            layer_ * batch_.block_rows[t] + static_cast<std::size_t>(batch_.ancestors[row][t]);
        rows[t] = batch_.blocks[t].data() + index * 2 * shape_.width;
      }
    }
    const float* qkv = floats(out->src[0]) + row * 3 * shape_.width + head_offset;
    float* cache =
        batch_.blocks[batch_.step].data() + (layer_ * batch_.rows + row) * 2 * shape_.width + head_offset;
    std::copy_n(qkv + shape_.width, head_size, cache);
    std::copy_n(qkv + 2 * shape_.width, head_size, cache + shape_.width);
    call.query = qkv;
    call.key_offset = head_offset;
    call.value_offset = shape_.width + head_offset;
    call.out = floats(out) + row * shape_.width + head_offset;
    kernels_.attend(call);
  }
}

void CrossAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  std::vector<const float*> keys;
  std::vector<float> probabilities;
  AttendCall call;
  call.head_size = shape_.head_size();
  call.ahead = call.head_size;
  call.scale = score_scale(shape_);
  const std::size_t beams = batch_.rows_per_sentence;
  // Heads that are averaged belong to one thread.
  const std::size_t heads = is_recorded() ? 1 : shape_.heads;
  const auto [first, last] = share(batch_.rows / beams * heads, thread, threads);
  std::size_t current = batch_.rows;
  for (std::size_t task = first; task < last; ++task) {
    const std::size_t group = task / heads;
    if (group != current) {
      current = group;
      const std::size_t sentence = batch_.sentences[group * beams];
      call.count = batch_.sentence_length(sentence);
      keys.resize(call.count);
      probabilities.resize(attention_room(call.count));
      for (std::size_t j = 0; j < call.count; ++j) {
        keys[j] = batch_.cross[layer_] + (batch_.offsets[sentence] + j) * 2 * shape_.width;
      }
      call.rows = keys.data();
      call.probabilities = probabilities.data();
    }
    const std::size_t first_head = task % heads;
    const std::size_t last_head = heads == 1 ? shape_.heads : first_head + 1;
    for (std::size_t head = first_head; head < last_head; ++head) {
      run_head(out, call, group * beams, (group + 1) * beams, head);
    }
  }
}

void CrossAttentionNode::run_head(ggml_tensor* out, AttendCall& call, std::size_t first, std::size_t last,
                                  std::size_t head) const {
  call.key_offset = head * call.head_size;
  call.value_offset = shape_.width + head * call.head_size;
  for (std::size_t row = first; row < last; ++row) {
    call.query = floats(out->src[0]) + row * shape_.width + head * call.head_size;
    call.out = floats(out) + row * shape_.width + head * call.head_size;
    kernels_.attend(call);
    if (is_recorded() && head < alignment_heads_) record(row, head, call);
  }
}

// Adds a head to the mean; the first one starts it.
void CrossAttentionNode::record(std::size_t row, std::size_t head, const AttendCall& call) const {
  float* alignment = batch_.attention.data() + row * batch_.attention_stride;
  for (std::size_t j = 0; j < call.count; ++j) {
    const float before = head == 0 ? 0.0f : alignment[j];
    alignment[j] = before + call.probabilities[j] / static_cast<float>(alignment_heads_);
  }
}

}  // namespace verbatim::transformer
