#include "transformer/cpu/kernel_attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "transformer/cpu/parallel.h"
#include "transformer/cpu/row_product.h"

namespace verbatim::transformer {
namespace {

// Queries whose scores are computed at once: 24 x 1504 floats stay in the second-level cache.
constexpr std::size_t kBlock = 24;

std::size_t panels(std::size_t count) { return (count + kPanelOutputs - 1) / kPanelOutputs; }

template <typename T>
void at_least(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

void KernelAttention::reserve(std::size_t positions) {
  if (positions <= room_) return;
  room_ = 0;
  qkv_.reset();
  qkv_.emplace(3 * positions * shape_.width * sizeof(float), "attention");
  room_ = positions;
}

float* KernelAttention::rows_of(std::size_t part, std::size_t head) const noexcept {
  return reinterpret_cast<float*>(qkv_->data()) + (part * shape_.heads + head) * room_ * shape_.head_size();
}

// Where heads are whole panels, each product goes to its place at once.
void KernelAttention::project(const PackedLinear& qkv, const RelativePositions* /*relative*/, const std::byte* operands,
                              PositionBlock block, RowMultiplier& /*multiplier*/, std::vector<float>& scratch) {
  const std::size_t size = shape_.head_size();
  const std::size_t outputs = 3 * shape_.width;
  const bool in_place = size % kPanelOutputs == 0;
  if (!in_place) at_least(scratch, block.count * outputs);
  RowProduct product{.weight = *qkv.weight.for_kernels(),
                     .rows = block.count,
                     .operands = operands,
                     .epilogue = {.bias = qkv.bias.data()},
                     .y = scratch.data(),
                     .ld = outputs};
  if (!in_place) multiply(kernels_, product);
  for (std::size_t at = 0; at < outputs; at += size) {
    float* const to = rows_of(at / shape_.width, at % shape_.width / size) + block.first * size;
    if (in_place) {
      product.y = to;
      product.ld = size;
      product.first_panel = at / kPanelOutputs;
      product.last_panel = (at + size) / kPanelOutputs;
      multiply(kernels_, product);
    } else {
      for (std::size_t i = 0; i < block.count; ++i) std::copy_n(scratch.data() + i * outputs + at, size, to + i * size);
    }
  }
}

void KernelAttention::run(std::size_t positions, const RelativePositions* relative, int threads) {
  for_each(shape_.heads, threads, [&](std::size_t head, std::size_t thread) {
    attend({head, positions, relative}, lanes_[thread]);
  });
}

// The parts of a head are sums over many positions, some of which outweigh the rest. So in int8 what rounding took from
// them is rounded once more and added, so that they have 15 bits.
void KernelAttention::add_result(const AttentionOutput& output, PositionBlock block, float* rows,
                                 RowMultiplier& multiplier, std::vector<std::byte>& scratch) const {
  const std::size_t size = shape_.head_size();
  const std::size_t row_bytes = multiplier.row_bytes(size);
  at_least(scratch, block.count * row_bytes);
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    const float* const input = result(head, block.first);
    for (std::size_t i = 0; i < block.count; ++i) {
      multiplier.write_operands(input + i * size, size, scratch.data() + i * row_bytes);
    }
    const LinearProduct product{.weight = output.parts[head],
                                .rows = block.count,
                                .operands = scratch.data(),
                                .epilogue = {.bias = head == 0 ? output.bias.data() : nullptr, .residual = rows},
                                .y = rows};
    multiplier.multiply(product);
    multiplier.add_rounding_error(product, input);
  }
}

void KernelAttention::attend(const Head& head, Lane& lane) const {
  pack_keys(rows_of(1, head.number), head.positions, lane);
  const float* const values = rows_of(2, head.number);
  mixes_int8() ? pack_values_int8(values, head.positions, lane) : pack_values(values, head.positions, lane);
  for (std::size_t first = 0; first < head.positions; first += kBlock) {
    const PositionBlock block{first, std::min(kBlock, head.positions - first)};
    score(head, block, lane);
    if (head.relative != nullptr) add_distances(head, block, lane);
    mix(rows_of(0, head.number) + first * shape_.head_size(), block.count, head.positions, lane);
  }
}

// Panels of keys, as PackedMatrix has them: a key is an output.
void KernelAttention::pack_keys(const float* keys, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t padded = panels(positions) * kPanelOutputs;
  if (type_ != ComputeType::kInt8) {
    at_least(lane.keys, padded * size * sizeof(float));
    auto* const out = reinterpret_cast<float*>(lane.keys.data());
    std::fill_n(out, padded * size, 0.0f);
    for (std::size_t i = 0; i < positions; ++i) {
      float* const place = out + i / kPanelOutputs * size * kPanelOutputs + i % kPanelOutputs;
      for (std::size_t k = 0; k < size; ++k) place[k * kPanelOutputs] = keys[i * size + k];
    }
    return;
  }
  const std::size_t depth = quantized_depth(size);
  at_least(lane.keys, padded * depth);
  at_least(lane.key_factors, padded);
  at_least(lane.row, size);
  lane.mean.assign(size, 0.0f);
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t k = 0; k < size; ++k) lane.mean[k] += keys[i * size + k];
  }
  for (float& value : lane.mean) value /= static_cast<float>(positions);
  // The last panel's missing keys.
  const std::size_t whole = positions / kPanelOutputs * kPanelOutputs;
  std::memset(lane.keys.data() + whole * depth, 128, (padded - whole) * depth);
  std::fill(lane.key_factors.begin() + static_cast<std::ptrdiff_t>(whole), lane.key_factors.end(), 0.0f);
  std::vector<std::int8_t> quantized(quantized_row_bytes(size));
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t k = 0; k < size; ++k) lane.row[k] = keys[i * size + k] - lane.mean[k];
    kernels_.quantize_row(lane.row.data(), size, true, quantized.data());
    std::memcpy(&lane.key_factors[i], quantized.data() + depth, sizeof(float));
    std::byte* const place = lane.keys.data() + i / kPanelOutputs * depth * kPanelOutputs + i % kPanelOutputs * 4;
    for (std::size_t k = 0; k < depth; k += 4) {
      std::uint32_t word;
      std::memcpy(&word, quantized.data() + k, sizeof(word));
      word ^= 0x80808080u;  // adds 128 to each byte
      std::memcpy(place + k * kPanelOutputs, &word, sizeof(word));
    }
  }
}

// Panels of values: a channel is an output, and positions are the depth.
void KernelAttention::pack_values(const float* values, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t depth = attention_room(positions);
  at_least(lane.values, panels(size) * kPanelOutputs * depth * sizeof(float));
  auto* const out = reinterpret_cast<float*>(lane.values.data());
  std::fill_n(out, panels(size) * kPanelOutputs * depth, 0.0f);
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t first = 0; first < size; first += kPanelOutputs) {
      std::copy_n(values + i * size + first, std::min(kPanelOutputs, size - first),
                  out + (first / kPanelOutputs * depth + i) * kPanelOutputs);
    }
  }
}

// The same in groups of four positions.
void KernelAttention::pack_values_int8(const float* values, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t channels = panels(size) * kPanelOutputs;
  const std::size_t depth = attention_room(positions);
  at_least(lane.values, channels * depth);
  at_least(lane.row, channels);
  lane.value_scales.assign(channels, 0.0f);
  for (std::size_t i = 0; i < positions; ++i) {
    for (std::size_t k = 0; k < size; ++k) {
      lane.value_scales[k] = std::max(lane.value_scales[k], std::abs(values[i * size + k]));
    }
  }
  float* const factors = lane.row.data();
  for (std::size_t k = 0; k < channels; ++k) {
    factors[k] = lane.value_scales[k] > 0.0f ? 127.0f / lane.value_scales[k] : 0.0f;
    lane.value_scales[k] /= 127.0f;
  }
  auto* const out = reinterpret_cast<std::int8_t*>(lane.values.data());
  const std::size_t whole = positions / 4 * 4;
  for (std::size_t first = 0; first < channels; first += kPanelOutputs) {
    std::int8_t* const panel = out + first * depth;
    std::memset(panel + whole * kPanelOutputs, 0, (depth - whole) * kPanelOutputs);
    const std::size_t count = std::min(kPanelOutputs, size - first);
    for (std::size_t i = 0; i < positions; ++i) {
      std::int8_t* const place = panel + i / 4 * 4 * kPanelOutputs + i % 4;
      const float* const row = values + i * size + first;
      // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
      for (std::size_t k = 0; k < count; ++k) {
        place[4 * k] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(row[k] * factors[first + k] + 12582912.0f));
      }
    }
  }
}

// Scores are multiplied by log2(e), so that the softmax is one of powers of two.
void KernelAttention::write_queries(const Head& head, PositionBlock block, const std::vector<float>* bias,
                                    Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t row_bytes = operand_row_bytes(type_, size);
  const float scale = shape_.score_scale() * std::numbers::log2e_v<float>;
  at_least(lane.queries, kBlock * row_bytes);
  at_least(lane.row, size);
  const float* const added = bias == nullptr ? nullptr : bias->data() + head.number * size;
  for (std::size_t i = 0; i < block.count; ++i) {
    const float* const query = rows_of(0, head.number) + (block.first + i) * size;
    for (std::size_t k = 0; k < size; ++k) lane.row[k] = (query[k] + (added == nullptr ? 0.0f : added[k])) * scale;
    write_operands(kernels_, type_, lane.row.data(), size, lane.queries.data() + i * row_bytes);
  }
}

void KernelAttention::score(const Head& head, PositionBlock block, Lane& lane) const {
  const std::size_t padded = panels(head.positions) * kPanelOutputs;
  at_least(lane.scores, kBlock * padded);
  write_queries(head, block, head.relative == nullptr ? nullptr : &head.relative->content_bias, lane);
  GemmCall call;
  call.x = lane.queries.data();
  call.rows = block.count;
  call.depth = shape_.head_size();
  call.weights = lane.keys.data();
  call.weight_factors = lane.key_factors.data();
  call.outputs = padded;
  call.last_panel = panels(head.positions);
  call.y = lane.scores.data();
  call.ld = padded;
  type_ == ComputeType::kInt8 ? kernels_.gemm_int8(call) : kernels_.gemm_float32(call);
}

// The distance of key j from query i is i - j. Each query's rows of the table begin one row before those of the query
// before it. A block therefore needs count - 1 rows more than a single query.
void KernelAttention::add_distances(const Head& head, PositionBlock block, Lane& lane) const {
  const RelativePositions& relative = *head.relative;
  const std::size_t padded = panels(head.positions) * kPanelOutputs;
  const std::size_t row = relative.positions - block.first - block.count;
  const std::size_t first_panel = row / kPanelOutputs;
  const std::size_t last_panel = panels(row + head.positions + block.count - 1);
  const std::size_t ld = (last_panel - first_panel) * kPanelOutputs;
  at_least(lane.distance_scores, kBlock * ld);
  write_queries(head, block, &relative.position_bias, lane);
  multiply(kernels_, {.weight = relative.heads[head.number],
                      .rows = block.count,
                      .operands = lane.queries.data(),
                      .epilogue = {},
                      .y = lane.distance_scores.data(),
                      .ld = ld,
                      .first_panel = first_panel,
                      .last_panel = last_panel});
  for (std::size_t i = 0; i < block.count; ++i) {
    const float* const from =
        lane.distance_scores.data() + i * ld + row - first_panel * kPanelOutputs + block.count - 1 - i;
    float* const to = lane.scores.data() + i * padded;
    for (std::size_t j = 0; j < head.positions; ++j) to[j] += from[j];
  }
}

// The sums of values, weighted by the softmax of the scores.
void KernelAttention::mix(float* out, std::size_t rows, std::size_t positions, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t padded = panels(positions) * kPanelOutputs;
  const std::size_t depth = attention_room(positions);
  at_least(lane.row, kBlock);
  if (mixes_int8()) {
    at_least(lane.probabilities, kBlock * 2 * depth);
    auto* const probabilities = reinterpret_cast<std::uint8_t*>(lane.probabilities.data());
    for (std::size_t i = 0; i < rows; ++i) {
      lane.row[i] = 1.0f / kernels_.powers_of_two_uint16(lane.scores.data() + i * padded, positions,
                                                         probabilities + i * 2 * depth);
    }
    kernels_.mix_values_int8({.rows = rows,
                              .depth = depth,
                              .probabilities = probabilities,
                              .values = reinterpret_cast<const std::int8_t*>(lane.values.data()),
                              .channels = size,
                              .scales = lane.value_scales.data(),
                              .factors = lane.row.data(),
                              .out = out,
                              .ld = size});
    return;
  }
  at_least(lane.probabilities, kBlock * depth * sizeof(float));
  for (std::size_t i = 0; i < rows; ++i) {
    float* const scores = lane.scores.data() + i * padded;
    lane.row[i] = 1.0f / kernels_.powers_of_two_float32(scores, positions);
    std::copy_n(scores, depth, reinterpret_cast<float*>(lane.probabilities.data()) + i * depth);
  }
  GemmCall call;
  call.x = lane.probabilities.data();
  call.rows = rows;
  call.depth = depth;
  call.weights = lane.values.data();
  call.outputs = size;
  call.last_panel = panels(size);
  call.y = out;
  call.ld = size;
  kernels_.gemm_float32(call);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < size; ++k) out[i * size + k] *= lane.row[i];
  }
}

std::size_t KernelAttention::memory_bytes() const noexcept {
  std::size_t bytes = qkv_ ? qkv_->size() : 0;
  for (const Lane& lane : lanes_) {
    bytes += lane.keys.capacity() + lane.values.capacity() + lane.queries.capacity() + lane.probabilities.capacity() +
             sizeof(float) * (lane.scores.capacity() + lane.distance_scores.capacity() + lane.key_factors.capacity() +
                              lane.value_scales.capacity() + lane.row.capacity() + lane.mean.capacity());
  }
  return bytes;
}

}  // namespace verbatim::transformer
