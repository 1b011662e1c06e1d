#pragma once

#include <cstddef>
#include <string>

namespace verbatim::transformer {

// One zeroed block of memory, in huge pages where the system grants them. Weights are read from end to end for every
// token, which costs page walks with small pages.
class HugeBlock {
 public:
  HugeBlock() = default;
  // `what` names the contents in errors, such as "weights". Throws EngineError kOutOfMemory.
  HugeBlock(std::size_t bytes, const std::string& what);
  ~HugeBlock();
  HugeBlock(HugeBlock&& other) noexcept;
  HugeBlock& operator=(HugeBlock&&) = delete;

  // Aligned to a huge page; null for a block of 0 bytes.
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbatim::transformer
