#include "transformer/cpu/self_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "transformer/cpu/parallel.h"

namespace verbatim::transformer {
namespace {

// Queries whose scores are computed at once: 48 x 1504 floats stay in the second-level cache.
constexpr std::size_t kBlock = 48;
constexpr std::size_t kLine = 64;

std::size_t panels(std::size_t count) { return (count + kPanelOutputs - 1) / kPanelOutputs; }

template <typename T>
void reserve(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

SelfAttention::SelfAttention(const Kernels& kernels, ComputeType type, const AttentionShape& shape, int threads)
    : kernels_(kernels), type_(type), shape_(shape), threads_(threads), lanes_(static_cast<std::size_t>(threads)) {}

void SelfAttention::run(float* qkv, std::size_t positions) {
  for_each(shape_.heads, threads_,
           [&](std::size_t head, std::size_t thread) { attend(qkv, positions, head, lanes_[thread]); });
}

void SelfAttention::attend(float* qkv, std::size_t positions, std::size_t head, Lane& lane) const {
  float* const query = qkv + head * shape_.head_size();
  pack_keys(query + shape_.width, positions, lane);
  pack_values(query + 2 * shape_.width, positions, lane);
  for (std::size_t first = 0; first < positions; first += kBlock) {
    attend_block(query + first * 3 * shape_.width, std::min(kBlock, positions - first), positions, lane);
  }
}

// Panels of keys, as PackedMatrix has them: a key is an output.
void SelfAttention::pack_keys(const float* keys, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t stride = 3 * shape_.width;
  const std::size_t padded = panels(positions) * kPanelOutputs;
  if (type_ != ComputeType::kInt8) {
    reserve(lane.keys, padded * size * sizeof(float));
    auto* const out = reinterpret_cast<float*>(lane.keys.data());
    std::fill_n(out, padded * size, 0.0f);
    for (std::size_t i = 0; i < positions; ++i) {
      float* const place = out + i / kPanelOutputs * size * kPanelOutputs + i % kPanelOutputs;
      for (std::size_t k = 0; k < size; ++k) place[k * kPanelOutputs] = keys[i * stride + k];
    }
    return;
  }
  const std::size_t depth = quantized_depth(size);
  reserve(lane.keys, padded * depth);
  reserve(lane.key_factors, padded);
  reserve(lane.row, std::max(size, kLine));
  lane.mean.assign(size, 0.0f);
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t k = 0; k < size; ++k) lane.mean[k] += keys[i * stride + k];
  }
  for (float& value : lane.mean) value /= static_cast<float>(positions);
  std::memset(lane.keys.data(), 128, padded * depth);
  std::fill_n(lane.key_factors.data(), padded, 0.0f);
  std::vector<std::int8_t> quantized(quantized_row_bytes(size));
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t k = 0; k < size; ++k) lane.row[k] = keys[i * stride + k] - lane.mean[k];
    kernels_.quantize_row(lane.row.data(), size, true, quantized.data());
    std::memcpy(&lane.key_factors[i], quantized.data() + depth, sizeof(float));
    std::byte* const place =
        lane.keys.data() + i / kPanelOutputs * depth * kPanelOutputs + i % kPanelOutputs * 4;
    for (std::size_t k = 0; k < depth; k += 4) {
      std::uint32_t word;
      std::memcpy(&word, quantized.data() + k, sizeof(word));
      word ^= 0x80808080u;  // adds 128 to each byte
      std::memcpy(place + k * kPanelOutputs, &word, sizeof(word));
    }
  }
}

// Panels of values: a channel is an output, and positions are the depth.
void SelfAttention::pack_values(const float* values, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t stride = 3 * shape_.width;
  const std::size_t depth = attention_room(positions);
  if (type_ != ComputeType::kInt8 || kernels_.gemm_pairs == nullptr) {
    reserve(lane.values, panels(size) * kPanelOutputs * depth * sizeof(float));
    auto* const out = reinterpret_cast<float*>(lane.values.data());
    std::fill_n(out, panels(size) * kPanelOutputs * depth, 0.0f);
    for (std::size_t i = 0; i < positions; ++i) {
      for (std::size_t first = 0; first < size; first += kPanelOutputs) {
        std::copy_n(values + i * stride + first, std::min(kPanelOutputs, size - first),
                    out + (first / kPanelOutputs * depth + i) * kPanelOutputs);
      }
    }
    return;
  }
  reserve(lane.values, panels(size) * kPanelOutputs * depth * sizeof(std::uint16_t));
  auto* const out = reinterpret_cast<std::uint16_t*>(lane.values.data());
  std::fill_n(out, panels(size) * kPanelOutputs * depth, std::uint16_t{0});
  std::vector<std::uint16_t> rounded(size);
  for (std::size_t i = 0; i < positions; ++i) {
    kernels_.round_to_bfloat16(values + i * stride, size, rounded.data());
    for (std::size_t k = 0; k < size; ++k) {
      out[(k / kPanelOutputs * depth + i / 2 * 2) * kPanelOutputs + k % kPanelOutputs * 2 + i % 2] = rounded[k];
    }
  }
}

// Scores are multiplied by log2(e), so that the softmax is one of powers of two.
void SelfAttention::attend_block(float* queries, std::size_t rows, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t stride = 3 * shape_.width;
  const std::size_t row_bytes = type_ == ComputeType::kInt8 ? quantized_row_bytes(size) : size * sizeof(float);
  const std::size_t padded = panels(positions) * kPanelOutputs;
  const float scale = shape_.score_scale() * std::numbers::log2e_v<float>;
  reserve(lane.queries, kBlock * row_bytes);
  reserve(lane.scores, kBlock * padded);
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const query = queries + i * stride;
    std::byte* const out = lane.queries.data() + i * row_bytes;
    if (type_ == ComputeType::kInt8) {
      kernels_.quantize_row(query, size, true, reinterpret_cast<std::int8_t*>(out));
      float factor;
      std::memcpy(&factor, out + quantized_depth(size), sizeof(factor));
      factor *= scale;
      std::memcpy(out + quantized_depth(size), &factor, sizeof(factor));
    } else {
      std::transform(query, query + size, reinterpret_cast<float*>(out), [&](float x) { return x * scale; });
    }
  }
  GemmCall call;
  call.x = lane.queries.data();
  call.rows = rows;
  call.depth = size;
  call.weights = lane.keys.data();
  call.weight_factors = lane.key_factors.data();
  call.outputs = padded;
  call.last_panel = panels(positions);
  call.y = lane.scores.data();
  call.ld = padded;
  type_ == ComputeType::kInt8 ? kernels_.gemm_int8(call) : kernels_.gemm_float32(call);
  mix(queries, rows, positions, lane);
}

// Replaces the queries by the sums of values, weighted by the softmax of the scores.
void SelfAttention::mix(float* out, std::size_t rows, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t stride = 3 * shape_.width;
  const std::size_t padded = panels(positions) * kPanelOutputs;
  const std::size_t depth = attention_room(positions);
  const bool in_pairs = type_ == ComputeType::kInt8 && kernels_.gemm_pairs != nullptr;
  reserve(lane.row, kBlock);
  reserve(lane.probabilities, kBlock * depth * (in_pairs ? sizeof(std::uint16_t) : sizeof(float)));
  for (std::size_t i = 0; i < rows; ++i) {
    float* const scores = lane.scores.data() + i * padded;
    if (in_pairs) {
      auto* const numerators = reinterpret_cast<std::uint16_t*>(lane.probabilities.data()) + i * depth;
      lane.row[i] = 1.0f / kernels_.powers_of_two_bfloat16(scores, positions, numerators);
    } else {
      lane.row[i] = 1.0f / kernels_.powers_of_two_float32(scores, positions);
      std::copy_n(scores, depth, reinterpret_cast<float*>(lane.probabilities.data()) + i * depth);
    }
  }
  GemmCall call;
  call.x = lane.probabilities.data();
  call.rows = rows;
  call.depth = depth;
  call.weights = lane.values.data();
  call.outputs = size;
  call.last_panel = panels(size);
  call.y = out;
  call.ld = stride;
  in_pairs ? kernels_.gemm_pairs(call) : kernels_.gemm_float32(call);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < size; ++k) out[i * stride + k] *= lane.row[i];
  }
}

std::size_t SelfAttention::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Lane& lane : lanes_) {
    bytes += lane.keys.capacity() + lane.values.capacity() + lane.queries.capacity() + lane.probabilities.capacity() +
             sizeof(float) *
                 (lane.scores.capacity() + lane.key_factors.capacity() + lane.row.capacity() + lane.mean.capacity());
  }
  return bytes;
}

}  // namespace verbatim::transformer
