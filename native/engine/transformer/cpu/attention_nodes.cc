#include "transformer/cpu/attention_nodes.h"

#include <ggml.h>

#include <algorithm>

#include "transformer/cpu/nodes.h"

namespace verbatim::transformer {
namespace {

float* floats(ggml_tensor* tensor) { return static_cast<float*>(tensor->data); }

}  // namespace

RelativePositions::RelativePositions(const MatrixView& table)
    : columns_(table.columns),
      furthest_(static_cast<std::ptrdiff_t>(table.rows / 2)),
      values_(table.rows * table.columns) {
  for (std::size_t i = 0; i < table.rows; ++i) table.read_row(i, std::span(values_).subspan(i * columns_, columns_));
}

const float* RelativePositions::at(std::ptrdiff_t distance) const noexcept {
  const std::ptrdiff_t row = std::clamp(distance, -furthest_, furthest_) + furthest_;
  return values_.data() + static_cast<std::size_t>(row) * columns_;
}

void RelativePositions::list(std::size_t count, std::size_t position, std::vector<const float*>& out) const {
  out.resize(count);
  for (std::size_t j = 0; j < count; ++j)
    out[j] = at(static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(position));
}

EncoderAttentionNode::EncoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights,
                                           const EncoderBatch& batch)
    : kernels_(kernels), shape_(shape), keys_(weights.relative_keys), values_(weights.relative_values), batch_(batch) {}

void EncoderAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  const float* qkv = floats(out->src[0]);
  const std::size_t stride = 3 * shape_.width;
  const std::size_t head_size = shape_.head_size();
  std::vector<const void*> rows;
  std::vector<const float*> relative_keys, relative_values;
  std::vector<float> probabilities;
  AttendCall call;
  call.head_size = head_size;
  call.scale = shape_.score_scale();
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
        keys_.list(call.count, i, relative_keys);
        values_.list(call.count, i, relative_values);
        call.relative_keys = relative_keys.data();
        call.relative_values = relative_values.data();
      }
      call.query = static_cast<const float*>(rows[i]);
      call.out = floats(out) + (begin + i) * shape_.width + head_offset;
      kernels_.attend_float32(call);
    }
  }
}

void AppendNode::run(ggml_tensor* out, int thread, int threads) {
  const std::size_t size = 2 * shape_.width;
  const auto [first, last] = share(step_.rows.size(), thread, threads);
  for (std::size_t i = first; i < last; ++i) {
    const float* key_value = floats(out->src[0]) + i * 3 * shape_.width + shape_.width;
    std::byte* slot = step_.rows[i].history->data()[step_.rows[i].position];
    if (step_.history_type == ComputeType::kBfloat16) {
      kernels_.round_to_bfloat16(key_value, size, reinterpret_cast<std::uint16_t*>(slot) + layer_ * size);
    } else {
      std::copy_n(key_value, size, reinterpret_cast<float*>(slot) + layer_ * size);
    }
  }
}

DecoderAttentionNode::DecoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights,
                                           std::size_t layer, const DecoderStep& step)
    : attend_(step.history_type == ComputeType::kBfloat16 ? kernels.attend_bfloat16 : kernels.attend_float32),
      shape_(shape),
      keys_(weights.relative_keys),
      values_(weights.relative_values),
      layer_(layer),
      step_(step) {}

void DecoderAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  std::vector<const float*> relative_keys, relative_values;
  std::vector<float> probabilities;
  AttendCall call;
  call.head_size = shape_.head_size();
  call.ahead = call.head_size;
  call.scale = shape_.score_scale();
  const auto [first, last] = share(step_.rows.size() * shape_.heads, thread, threads);
  std::size_t current = step_.rows.size();
  for (std::size_t task = first; task < last; ++task) {
    const std::size_t row = task / shape_.heads;
    const std::size_t head_offset = task % shape_.heads * call.head_size;
    if (row != current) {
      current = row;
      const std::size_t position = step_.rows[row].position;
      call.count = position + 1;
      call.rows = reinterpret_cast<const void* const*>(step_.rows[row].history->data());
      probabilities.resize(attention_room(call.count));
      call.probabilities = probabilities.data();
      if (!keys_.empty()) {
        keys_.list(call.count, position, relative_keys);
        values_.list(call.count, position, relative_values);
        call.relative_keys = relative_keys.data();
        call.relative_values = relative_values.data();
      }
    }
    call.query = floats(out->src[0]) + row * 3 * shape_.width + head_offset;
    call.key_offset = layer_ * 2 * shape_.width + head_offset;
    call.value_offset = call.key_offset + shape_.width;
    call.out = floats(out) + row * shape_.width + head_offset;
    attend_(call);
  }
}

void CrossAttentionNode::run(ggml_tensor* out, int thread, int threads) {
  CrossScratch scratch;
  // Groups differ in size, so threads share the rows. The thread that has the first row of a group computes the group's
  // heads.
  const auto [first, last] = share(step_.rows.size() * shape_.heads, thread, threads);
  for (std::size_t group = 0; group + 1 < step_.groups.size(); ++group) {
    const std::size_t begin = step_.groups[group], end = step_.groups[group + 1];
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      const std::size_t at = begin * shape_.heads + head * (end - begin);
      if (at >= first && at < last) run_head(out, begin, end, head, scratch);
    }
  }
}

void CrossAttentionNode::run_head(ggml_tensor* out, std::size_t first, std::size_t last, std::size_t head,
                                  CrossScratch& scratch) const {
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t row = step_.by_source[i];
    const std::size_t offset = row * shape_.width + head * shape_.head_size();
    const CrossQuery query{layer_, head, floats(out->src[0]) + offset, floats(out) + offset};
    step_.rows[row].source->attend(query, scratch);
    if (step_.record && step_.rows[row].wants_attention) record(row, head, scratch);
  }
}

void CrossAttentionNode::record(std::size_t row, std::size_t head, const CrossScratch& scratch) const {
  const AttentionRecord& record = *step_.record;
  for (std::size_t i = 0; i < record.heads.size(); ++i) {
    if (record.heads[i].layer != layer_ || record.heads[i].head != head) continue;
    const std::size_t positions = step_.rows[row].source->positions();
    record.on_weights(step_.first_row + row, i, std::span(scratch.probabilities).first(positions));
  }
}

}  // namespace verbatim::transformer
