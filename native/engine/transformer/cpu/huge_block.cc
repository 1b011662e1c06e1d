#include "transformer/cpu/huge_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "error.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2u << 20;

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// Maps one huge page more than needed and unmaps the ends, so that the block begins at a huge page. A rest at its end
// that does not fill a huge page takes small ones.
std::byte* map_aligned(std::size_t size) {
  const std::size_t room = size + kHugePage;
  void* data = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(data);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = rounded_up(address, kHugePage) - address;
  if (before > 0) ::munmap(start, before);
  if (const std::size_t behind = room - before - size; behind > 0) ::munmap(start + before + size, behind);
  return start + before;
}

}  // namespace

HugeBlock::HugeBlock(std::size_t bytes, const std::string& what) : size_(rounded_up(bytes, kPage)) {
  if (size_ == 0) return;
  data_ = map_aligned(size_);
  if (!data_) {
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for " + std::to_string(size_ >> 20) + " MB of " + what);
  }
#if defined(MADV_HUGEPAGE)
  ::madvise(data_, size_, MADV_HUGEPAGE);
#endif
}

HugeBlock::HugeBlock(HugeBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HugeBlock::~HugeBlock() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace verbatim::transformer
