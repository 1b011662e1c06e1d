#include "transformer/cpu/weight_memory.h"

#include <sys/mman.h>

#include <string>

#include "error.h"

namespace verbatim::transformer {

WeightMemory::WeightMemory(std::size_t bytes) {
  constexpr std::size_t kHugePage = 2u << 20;
  size_ = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "no memory for " + std::to_string(size_ >> 20) + " MB of weights");
  }
#if defined(MADV_HUGEPAGE)
  ::madvise(data, size_, MADV_HUGEPAGE);
#endif
  data_ = static_cast<std::byte*>(data);
}

WeightMemory::~WeightMemory() {
  if (data_) ::munmap(data_, size_);
}

std::span<std::byte> WeightMemory::take(std::size_t bytes) {
  const std::size_t needed = aligned(bytes);
  if (needed > size_ - used_)
    throw EngineError(ErrorCode::kInternalError, "weight memory was sized too small");
  std::byte* part = data_ + used_;
  used_ += needed;
  return {part, bytes};
}

}  // namespace verbatim::transformer
