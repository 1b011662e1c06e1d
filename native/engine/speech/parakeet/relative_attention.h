#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "accelerator/matrices.h"
#include "speech/parakeet/encoder_weights.h"

namespace verbatim::parakeet {

// Attention of every position to every other, by content and by distance. Queries are computed in blocks, so that
// scores never take more than a few hundred KiB per thread. One call at a time.
class RelativeAttention {
 public:
  // state: width of the model.
  RelativeAttention(const std::shared_ptr<accelerator::WeightStore>& store, std::int64_t state, std::int64_t heads,
                    int threads);

  // qkv: [positions][3 * state]; positions: at most those of the weights' table. out: operands [positions][state].
  // Throws std::bad_alloc, and std::exception for what the accelerator reports.
  void run(const AttentionWeights& weights, const float* qkv, std::int64_t positions, std::byte* out);
  std::size_t memory_bytes() const noexcept;

 private:
  // Working memory of one thread.
  struct Lane {
    explicit Lane(const std::shared_ptr<accelerator::WeightStore>& store) : multiplier(store, 1) {}

    accelerator::Multiplier multiplier;
    // Operands of one head.
    std::vector<std::byte> keys, values;
    // A block of queries: operands, then float32.
    std::vector<std::byte> content_queries, position_queries, weights;
    std::vector<float> content, position, row, result;
  };
  // One head of one call.
  struct Head {
    const AttentionWeights& weights;
    const float* qkv;
    std::int64_t positions;
    std::int64_t number;
    std::byte* out;
  };

  void reserve(Lane& lane, std::int64_t positions) const;
  void attend(const Head& head, Lane& lane) const;
  void attend_block(const Head& head, std::int64_t first, std::int64_t count, Lane& lane) const;
  // Row `position` of queries (0), keys (1) or values (2).
  const float* row_of(const Head& head, std::int64_t part, std::int64_t position) const;

  const std::shared_ptr<accelerator::WeightStore> store_;
  const std::int64_t state_;
  const std::int64_t heads_;
  const std::int64_t width_;
  const std::size_t operand_;
  std::vector<Lane> lanes_;
};

}  // namespace verbatim::parakeet
