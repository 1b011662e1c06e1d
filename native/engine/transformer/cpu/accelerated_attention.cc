#include "transformer/cpu/accelerated_attention.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <utility>

#include "transformer/cpu/parallel.h"

namespace verbatim::transformer {
namespace {

// Queries whose scores are computed at once: 128 x 1504 floats stay in the second-level cache.
constexpr std::size_t kBlock = 128;

template <typename T>
void at_least(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

std::int64_t number(std::size_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

AcceleratedAttention::AcceleratedAttention(std::shared_ptr<accelerator::WeightStore> store, const Kernels& kernels,
                                           const AttentionShape& shape)
    : store_(std::move(store)), kernels_(kernels), shape_(shape), operand_(accelerator::operand_size(store_.get())) {
  AcceleratedAttention::set_threads(1);
}

void AcceleratedAttention::set_threads(int threads) {
  const auto count = static_cast<std::size_t>(threads);
  while (lanes_.size() > count) lanes_.pop_back();
  while (lanes_.size() < count) lanes_.emplace_back(store_);
}

void AcceleratedAttention::reserve(std::size_t positions) {
  const std::size_t room = attention_room(positions);
  if (room <= room_) return;
  room_ = 0;
  parts_.reset();
  results_.reset();
  parts_.emplace(kParts * room * shape_.width * operand_, "attention");
  results_.emplace(room * shape_.width * operand_, "attention");
  room_ = room;
}

std::byte* AcceleratedAttention::operands_of(Part part, std::size_t head) const noexcept {
  return parts_->data() + (part * shape_.heads + head) * room_ * shape_.head_size() * operand_;
}

void AcceleratedAttention::write_operands(const float* from, std::size_t count, std::byte* to) const {
  if (operand_ == sizeof(float)) {
    std::memcpy(to, from, count * sizeof(float));
  } else {
    kernels_.round_to_bfloat16(from, count, reinterpret_cast<std::uint16_t*>(to));
  }
}

// Scores are multiplied by log2(e), so that the softmax is one of powers of two.
void AcceleratedAttention::project(const PackedLinear& qkv, const RelativePositions* relative,
                                   const std::byte* operands, PositionBlock block, RowMultiplier& multiplier,
                                   std::vector<float>& scratch) {
  const std::size_t size = shape_.head_size();
  const std::size_t outputs = 3 * shape_.width;
  at_least(scratch, block.count * outputs + size);
  multiplier.multiply({.weight = qkv.weight,
                       .rows = block.count,
                       .operands = operands,
                       .epilogue = {.bias = qkv.bias.data()},
                       .y = scratch.data()});
  const float scale = shape_.score_scale() * std::numbers::log2e_v<float>;
  float* const query = scratch.data() + block.count * outputs;
  const auto write = [&](Part part, std::size_t head, std::size_t i, const float* values) {
    write_operands(values, size, operands_of(part, head) + (block.first + i) * size * operand_);
  };
  for (std::size_t i = 0; i < block.count; ++i) {
    const float* const row = scratch.data() + i * outputs;
    const auto write_query = [&](Part part, std::size_t head, const std::vector<float>* bias) {
      for (std::size_t k = head * size; k < (head + 1) * size; ++k) {
        query[k - head * size] = (row[k] + (bias == nullptr ? 0.0f : (*bias)[k])) * scale;
      }
      write(part, head, i, query);
    };
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      write_query(kContentQueries, head, relative == nullptr ? nullptr : &relative->content_bias);
      if (relative != nullptr) write_query(kPositionQueries, head, &relative->position_bias);
      write(kKeys, head, i, row + shape_.width + head * size);
      write(kValues, head, i, row + 2 * shape_.width + head * size);
    }
  }
}

void AcceleratedAttention::run(std::size_t positions, const RelativePositions* relative, int threads) {
  // What an earlier source left behind the last key.
  const std::size_t size = shape_.head_size();
  const std::size_t behind = (attention_room(positions) - positions) * size * operand_;
  for (std::size_t head = 0; head < shape_.heads; ++head) {
    for (const Part part : {kKeys, kValues}) {
      std::memset(operands_of(part, head) + positions * size * operand_, 0, behind);
    }
  }
  const std::size_t blocks = (positions + kBlock - 1) / kBlock;
  for_each(shape_.heads * blocks, threads, [&](std::size_t index, std::size_t thread) {
    const std::size_t first = index % blocks * kBlock;
    attend(index / blocks, {first, std::min(kBlock, positions - first)}, positions, relative, lanes_[thread]);
  });
}

void AcceleratedAttention::attend(std::size_t head, PositionBlock block, std::size_t positions,
                                  const RelativePositions* relative, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t padded = attention_room(positions);
  at_least(lane.scores, kBlock * padded);
  at_least(lane.probabilities, kBlock * padded * operand_);
  at_least(lane.result, kBlock * size);
  at_least(lane.sums, kBlock);
  lane.multiplier.multiply_by_columns(number(block.count), number(padded), number(size),
                                      operands_of(kContentQueries, head) + block.first * size * operand_,
                                      operands_of(kKeys, head), lane.scores.data());
  if (relative != nullptr) add_distances(head, block, positions, *relative, lane);
  for (std::size_t i = 0; i < block.count; ++i) {
    lane.sums[i] = 1.0f / kernels_.powers_of_two_float32(lane.scores.data() + i * padded, positions);
  }
  write_operands(lane.scores.data(), block.count * padded, lane.probabilities.data());
  lane.multiplier.multiply_by_rows(number(block.count), number(size), number(padded), lane.probabilities.data(),
                                   operands_of(kValues, head), lane.result.data());
  for (std::size_t i = 0; i < block.count; ++i) {
    float* const row = lane.result.data() + i * size;
    for (std::size_t k = 0; k < size; ++k) row[k] *= lane.sums[i];
    write_operands(row, size, results_->data() + ((block.first + i) * shape_.width + head * size) * operand_);
  }
}

// The distance of key j from query i is i - j. Each query's rows of the table begin one row before those of the query
// before it. A block therefore needs count - 1 rows more than a single query.
void AcceleratedAttention::add_distances(std::size_t head, PositionBlock block, std::size_t positions,
                                         const RelativePositions& relative, Lane& lane) const {
  const std::size_t size = shape_.head_size();
  const std::size_t padded = attention_room(positions);
  const std::size_t distances = positions + block.count - 1;
  const std::size_t row = head * (2 * relative.positions - 1) + relative.positions - block.first - block.count;
  at_least(lane.distance_scores, kBlock * (positions + kBlock - 1));
  lane.multiplier.multiply_by_columns(number(block.count), number(distances), number(size),
                                      operands_of(kPositionQueries, head) + block.first * size * operand_,
                                      relative.operands.data() + row * size * operand_, lane.distance_scores.data());
  for (std::size_t i = 0; i < block.count; ++i) {
    const float* const from = lane.distance_scores.data() + i * distances + block.count - 1 - i;
    float* const to = lane.scores.data() + i * padded;
    for (std::size_t j = 0; j < positions; ++j) to[j] += from[j];
  }
}

void AcceleratedAttention::add_result(const AttentionOutput& output, PositionBlock block, float* rows,
                                      RowMultiplier& multiplier, std::vector<std::byte>& /*scratch*/) const {
  multiplier.multiply({.weight = output.parts.front(),
                       .rows = block.count,
                       .operands = results_->data() + block.first * shape_.width * operand_,
                       .epilogue = {.bias = output.bias.data(), .residual = rows},
                       .y = rows});
}

std::size_t AcceleratedAttention::memory_bytes() const noexcept {
  std::size_t bytes = parts_ ? parts_->size() + results_->size() : 0;
  for (const Lane& lane : lanes_) {
    bytes += lane.multiplier.memory_bytes() + lane.probabilities.capacity() +
             sizeof(float) * (lane.scores.capacity() + lane.distance_scores.capacity() + lane.sums.capacity() +
                              lane.result.capacity());
  }
  return bytes;
}

}  // namespace verbatim::transformer
