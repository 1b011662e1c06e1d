#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/cpu/huge_block.h"
#include "transformer/cpu/self_attention.h"

namespace verbatim::transformer {

// Attention on this engine's kernels, one head at a time on each thread.
//
// kInt8: queries and keys are rounded to int8, each by its own scale, so that scores are products of integers; the mean
// of a head's keys is subtracted from them first, which changes no probability and takes away what all keys have in
// common (SageAttention, arXiv:2410.02367). So are projected distances. Values are int8 with a scale for each channel,
// and probabilities are integers of 16 bits, divided by their sum; both are float32 where that is faster
// (Kernels::mix_values_int8 is null). kFloat32: everything is float32.
class KernelAttention final : public SelfAttention {
 public:
  KernelAttention(const Kernels& kernels, ComputeType type, const AttentionShape& shape)
      : kernels_(kernels), type_(type), shape_(shape) {}

  void set_threads(int threads) override { lanes_.resize(static_cast<std::size_t>(threads)); }
  void reserve(std::size_t positions) override;
  void project(const PackedLinear& qkv, const RelativePositions* relative, const std::byte* operands,
               PositionBlock block, RowMultiplier& multiplier, std::vector<float>& scratch) override;
  void run(std::size_t positions, const RelativePositions* relative, int threads) override;
  void add_result(const AttentionOutput& output, PositionBlock block, float* rows, RowMultiplier& multiplier,
                  std::vector<std::byte>& scratch) const override;
  std::size_t memory_bytes() const noexcept override;

  // A head's results from a position on: [positions][head_size].
  const float* result(std::size_t head, std::size_t position) const noexcept {
    return rows_of(0, head) + position * shape_.head_size();
  }

 private:
  // Working memory of one thread.
  struct Lane {
    std::vector<std::byte> keys, values, queries, probabilities;
    std::vector<float> scores, distance_scores, key_factors, value_scales, row, mean;
  };
  // A head of a source.
  struct Head {
    std::size_t number;
    std::size_t positions;
    const RelativePositions* relative;
  };

  // A head's queries (0), keys (1) or values (2): [positions][head_size].
  float* rows_of(std::size_t part, std::size_t head) const noexcept;
  bool mixes_int8() const noexcept { return type_ == ComputeType::kInt8 && kernels_.mix_values_int8 != nullptr; }
  void attend(const Head& head, Lane& lane) const;
  void pack_keys(const float* keys, std::size_t positions, Lane& lane) const;
  void pack_values(const float* values, std::size_t positions, Lane& lane) const;
  void pack_values_int8(const float* values, std::size_t positions, Lane& lane) const;
  void write_queries(const Head& head, PositionBlock block, const std::vector<float>* bias, Lane& lane) const;
  void score(const Head& head, PositionBlock block, Lane& lane) const;
  void add_distances(const Head& head, PositionBlock block, Lane& lane) const;
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
