#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transformer/cpu/attention_shape.h"
#include "transformer/cpu/cross_cache.h"
#include "transformer/cpu/huge_block.h"

namespace verbatim::transformer {

// Keys and values in int8 or bfloat16, in the order of reading: [layers][heads], each with the keys, the values and,
// for int8, the scales of a head (see PackedAttendCall). In int8 the key and the value of every position and head each
// have a scale.
class PackedCrossCache final : public CpuCrossCache {
 public:
  // type: kInt8 or kBfloat16. Throws EngineError kOutOfMemory.
  PackedCrossCache(const Kernels& kernels, ComputeType type, const AttentionShape& shape, std::size_t layers,
                   std::size_t positions);

  void write(std::size_t layer, std::size_t first, std::span<const float> rows) override;
  std::size_t memory_bytes() const noexcept override { return block_.size(); }
  void attend(const CrossQuery& query, CrossScratch& scratch) const override;

 private:
  // The parts of one head.
  struct Head {
    std::byte* keys;
    std::byte* values;
    std::uint16_t* key_scales;
    std::uint16_t* value_scales;
  };
  Head head(std::size_t layer, std::size_t index) const noexcept;
  // rows: from the head's first key on, [count, 2 * width].
  void write_int8(const Head& head, std::size_t first, std::size_t count, std::span<const float> rows) const;
  void write_bfloat16(const Head& head, std::size_t first, std::size_t count, std::span<const float> rows) const;

  ComputeType type_;
  // Bytes of each part of a head.
  std::size_t key_bytes_;
  std::size_t value_bytes_;
  std::size_t scale_bytes_;
  HugeBlock block_;
};

}  // namespace verbatim::transformer
