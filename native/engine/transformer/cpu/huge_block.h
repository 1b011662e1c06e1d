#pragma once

#include <cstddef>
#include <string>

#include "file_descriptor.h"

namespace verbatim::transformer {

// One block of memory, in huge pages where the system grants them. Weights are read from end to end for every token,
// which costs page walks with small pages.
class HugeBlock {
 public:
  HugeBlock() = default;
  // Zeroed. `what` names the contents in errors, such as "weights". Throws EngineError kOutOfMemory.
  HugeBlock(std::size_t bytes, const std::string& what);
  // The first bytes of a file, which must have as many: read-only, and shared with every process that maps them. Null
  // if the system refuses.
  static HugeBlock of_file(const FileDescriptor& file, std::size_t bytes) noexcept;
  ~HugeBlock();
  HugeBlock(HugeBlock&& other) noexcept;
  HugeBlock& operator=(HugeBlock&&) = delete;

  // Aligned to a huge page; null for a block of 0 bytes.
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  // Reads a file's block as a whole. False if that fails, or if the system cannot do it without a fault.
  bool read_all() const noexcept;
  // Whether most of a file's block is in huge pages, once it is read.
  bool is_in_huge_pages() const;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace verbatim::transformer
