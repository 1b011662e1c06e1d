#pragma once

#include <cstddef>
#include <span>

#include "transformer/cpu/huge_block.h"

namespace verbatim::transformer {

// One zeroed block for all weights of a model.
class WeightMemory {
 public:
  // Throws EngineError kOutOfMemory.
  explicit WeightMemory(std::size_t bytes) : block_(bytes, "weights") {}

  // The next `bytes`, aligned to kAlignment. Throws EngineError kInternalError past the end.
  std::span<std::byte> take(std::size_t bytes);
  std::size_t size() const noexcept { return block_.size(); }

  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

 private:
  HugeBlock block_;
  std::size_t used_ = 0;
};

}  // namespace verbatim::transformer
