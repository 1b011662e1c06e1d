#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "transformer/cpu/huge_block.h"

namespace verbatim::transformer {

// One block for all weights of a model. It is either zeroed and filled while they are packed, or was filled before and
// comes from a file. The weights take their parts in the same order both times.
class WeightMemory {
 public:
  // To be filled. Throws EngineError kOutOfMemory.
  explicit WeightMemory(std::size_t bytes)
      : block_(bytes, "weights"), part_(block_.data(), bytes), unfilled_(block_.data()) {}
  // Filled: `part` of the block.
  WeightMemory(HugeBlock block, std::span<const std::byte> part) noexcept : block_(std::move(block)), part_(part) {}

  // The next `bytes`, aligned to kAlignment. fill(std::span<std::byte>) writes them, unless they were filled before.
  // Throws EngineError kInternalError past the end.
  template <typename Fill>
  std::span<const std::byte> take(std::size_t bytes, const Fill& fill) {
    const std::size_t first = advance(bytes);
    if (!is_filled()) fill(std::span(unfilled_ + first, bytes));
    return part_.subspan(first, bytes);
  }

  // The same for `count` floats, with fill(std::span<float>).
  template <typename Fill>
  std::span<const float> take_floats(std::size_t count, const Fill& fill) {
    const std::span<const std::byte> part = take(count * sizeof(float), [&](std::span<std::byte> bytes) {
      fill(std::span(reinterpret_cast<float*>(bytes.data()), count));
    });
    return {reinterpret_cast<const float*>(part.data()), count};
  }

  // Whether nothing has to be packed.
  bool is_filled() const noexcept { return unfilled_ == nullptr; }
  // All weights, once they are packed.
  std::span<const std::byte> bytes() const noexcept { return part_; }
  std::size_t size() const noexcept { return part_.size(); }

  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  // What take_floats() takes.
  static constexpr std::size_t float_bytes(std::size_t count) { return aligned(count * sizeof(float)); }

 private:
  // Returns the offset of the next part.
  std::size_t advance(std::size_t bytes);

  HugeBlock block_;
  std::span<const std::byte> part_;
  // The block, unless it is filled.
  std::byte* unfilled_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace verbatim::transformer
