#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/cpu/attention_shape.h"
#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/huge_block.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// Attention of every position of a source to every other, one head at a time on each thread.
//
// kInt8: queries and keys are rounded to int8, each by its own scale, so that scores are products of integers; the mean
// of a head's keys is subtracted from them first, which changes no probability and takes away what all keys have in
// common (SageAttention, arXiv:2410.02367). Values are int8 with a scale for each channel, and probabilities are
// integers of 16 bits, divided by their sum; both are float32 where that is faster (Kernels::mix_values_int8 is null).
// kFloat32: everything is float32.
//
// A result does not depend on the number of threads. One call at a time.
class SelfAttention {
 public:
  SelfAttention(const Kernels& kernels, ComputeType type, const AttentionShape& shape)
      : kernels_(kernels), type_(type), shape_(shape) {}

  // Frees the working memory of threads beyond these.
  void set_threads(int threads) { lanes_.resize(static_cast<std::size_t>(threads)); }
  // Makes room for a source. Throws EngineError kOutOfMemory.
  void reserve(std::size_t positions);
  // Computes queries, keys and values of `count` positions from `first` on, of operands (row_product.h) [count].
  // `scratch` is the calling thread's. Several threads may project different positions at the same time. Throws
  // std::bad_alloc.
  void project(const PackedLinear& qkv, const std::byte* operands, std::size_t first, std::size_t count,
               std::vector<float>& scratch);
  // Replaces the queries of `positions` positions by the result, on at most as many threads as set_threads() was given.
  // Throws std::bad_alloc.
  void run(std::size_t positions, int threads);
  // A head's results from a position on: [positions][head_size].
  const float* result(std::size_t head, std::size_t position) const noexcept {
    return rows_of(0, head) + position * shape_.head_size();
  }
  // Of working memory for the longest source so far.
  std::size_t memory_bytes() const noexcept;

 private:
  // Working memory of one thread.
  struct Lane {
    std::vector<std::byte> keys, values, queries, probabilities;
    std::vector<float> scores, key_factors, value_scales, row, mean;
  };

  // A head's queries (0), keys (1) or values (2): [positions][head_size].
  float* rows_of(std::size_t part, std::size_t head) const noexcept;
  bool mixes_int8() const noexcept { return type_ == ComputeType::kInt8 && kernels_.mix_values_int8 != nullptr; }
  void attend(std::size_t head, std::size_t positions, Lane& lane) const;
  void pack_keys(const float* keys, std::size_t positions, Lane& lane) const;
  void pack_values(const float* values, std::size_t positions, Lane& lane) const;
  void pack_values_int8(const float* values, std::size_t positions, Lane& lane) const;
  void score(const float* queries, std::size_t rows, std::size_t positions, Lane& lane) const;
  void mix(float* out, std::size_t rows, std::size_t positions, Lane& lane) const;

  const Kernels& kernels_;
  const ComputeType type_;
  const AttentionShape shape_;
  std::vector<Lane> lanes_{1};  // [threads]
  // float32 [3][heads][room_][head_size]
  std::optional<HugeBlock> qkv_;
  std::size_t room_ = 0;
};

}  // namespace verbatim::transformer
