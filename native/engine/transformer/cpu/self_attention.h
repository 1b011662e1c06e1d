#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/cpu/attention_shape.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// Attention of every position of a source to every other, one head at a time on each thread.
//
// kInt8: queries and keys are rounded to int8, each by its own scale, so that scores are products of integers; the mean
// of a head's keys is subtracted from them first, which changes no probability and takes away what all keys have in
// common (SageAttention, arXiv:2410.02367). Probabilities and values are bfloat16 where the processor multiplies it,
// else float32. kFloat32: everything is float32.
//
// A result does not depend on the number of threads. One call at a time.
class SelfAttention {
 public:
  SelfAttention(const Kernels& kernels, ComputeType type, const AttentionShape& shape, int threads);

  // qkv: [positions][3 * width], the queries before the keys before the values. The result replaces the queries. Throws
  // std::bad_alloc.
  void run(float* qkv, std::size_t positions);
  // Of working memory for the longest source so far.
  std::size_t memory_bytes() const noexcept;

 private:
  // Working memory of one thread.
  struct Lane {
    std::vector<std::byte> keys, values, queries, probabilities;
    std::vector<float> scores, key_factors, row, mean;
  };

  void attend(float* qkv, std::size_t positions, std::size_t head, Lane& lane) const;
  void pack_keys(const float* keys, std::size_t positions, Lane& lane) const;
  void pack_values(const float* values, std::size_t positions, Lane& lane) const;
  void attend_block(float* queries, std::size_t rows, std::size_t positions, Lane& lane) const;
  void mix(float* out, std::size_t rows, std::size_t positions, Lane& lane) const;

  const Kernels& kernels_;
  const ComputeType type_;
  const AttentionShape shape_;
  const int threads_;
  std::vector<Lane> lanes_;
};

}  // namespace verbatim::transformer
