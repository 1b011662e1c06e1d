#pragma once

#include <cstddef>
#include <string>

namespace verbatim::transformer {

// One zeroed block of memory, in huge pages where the system grants them: what is read from end to end a
// token costs page walks with small ones.
class HugeBlock {
 public:
  HugeBlock() = default;
  // `what` names the contents in errors: "weights". Throws EngineError kOutOfMemory.
  HugeBlock(std::size_t bytes, const std::string& what);
  ~HugeBlock();
  HugeBlock(HugeBlock&& other) noexcept;
  HugeBlock& operator=(HugeBlock&&) = delete;

  // Aligned to a huge page; null if there are no bytes.
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbatim::transformer
