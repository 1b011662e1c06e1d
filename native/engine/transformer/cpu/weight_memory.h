#pragma once

#include <cstddef>
#include <span>

namespace verbatim::transformer {

// One zeroed block for all weights of a model, in huge pages where the system grants them: reading every
// weight once a token is what decoding costs, and with small pages a part of it is page walks.
class WeightMemory {
 public:
  // Throws EngineError kOutOfMemory.
  explicit WeightMemory(std::size_t bytes);
  ~WeightMemory();
  WeightMemory(const WeightMemory&) = delete;
  WeightMemory& operator=(const WeightMemory&) = delete;

  // The next `bytes`, aligned to kAlignment. Throws EngineError kInternalError past the end.
  std::span<std::byte> take(std::size_t bytes);
  std::size_t size() const noexcept { return size_; }

  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

}  // namespace verbatim::transformer
