#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "accelerator/matrices.h"
#include "transformer/cpu/huge_block.h"
#include "transformer/cpu/self_attention.h"

namespace verbatim::transformer {

// Attention on the accelerator, a block of one head's queries at a time on each thread, so that scores never take more
// than a few hundred KiB per thread. The softmax is float32.
class AcceleratedAttention final : public SelfAttention {
 public:
  // store: not null.
  AcceleratedAttention(std::shared_ptr<accelerator::WeightStore> store, const Kernels& kernels,
                       const AttentionShape& shape);

  void set_threads(int threads) override;
  void reserve(std::size_t positions) override;
  void project(const PackedLinear& qkv, const RelativePositions* relative, const std::byte* operands,
               PositionBlock block, RowMultiplier& multiplier, std::vector<float>& scratch) override;
  void run(std::size_t positions, const RelativePositions* relative, int threads) override;
  void add_result(const AttentionOutput& output, PositionBlock block, float* rows, RowMultiplier& multiplier,
                  std::vector<std::byte>& scratch) const override;
  std::size_t memory_bytes() const noexcept override;

 private:
  enum Part : std::size_t { kContentQueries, kKeys, kValues, kPositionQueries, kParts };

  // Working memory of one thread.
  struct Lane {
    explicit Lane(const std::shared_ptr<accelerator::WeightStore>& store) : multiplier(store, 1) {}

    accelerator::Multiplier multiplier;
    std::vector<float> scores, distance_scores, sums, result;
    std::vector<std::byte> probabilities;
  };

  // Operands of a head: [room_][head_size].
  std::byte* operands_of(Part part, std::size_t head) const noexcept;
  void attend(std::size_t head, PositionBlock block, std::size_t positions, const RelativePositions* relative,
              Lane& lane) const;
  void add_distances(std::size_t head, PositionBlock block, std::size_t positions, const RelativePositions& relative,
                     Lane& lane) const;
  void write_operands(const float* from, std::size_t count, std::byte* to) const;

  const std::shared_ptr<accelerator::WeightStore> store_;
  const Kernels& kernels_;
  const AttentionShape shape_;
  const std::size_t operand_;
  std::vector<Lane> lanes_;  // [threads]
  // Operands [kParts][heads][room_][head_size], and results as operands, [room_][width].
  std::optional<HugeBlock> parts_, results_;
  std::size_t room_ = 0;
};

}  // namespace verbatim::transformer
