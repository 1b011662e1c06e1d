#include "transformer/cpu/huge_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "error.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = 2u << 20;

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// Reserves one huge page more than needed and unmaps the ends, so that the block begins at a huge page. A rest at its
// end that does not fill a huge page takes small ones.
std::byte* map_aligned(std::size_t size, int protection) {
  const std::size_t room = size + kHugePage;
  void* data = ::mmap(nullptr, room, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(data);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = rounded_up(address, kHugePage) - address;
  if (before > 0) ::munmap(start, before);
  if (const std::size_t behind = room - before - size; behind > 0) ::munmap(start + before + size, behind);
  return start + before;
}

void ask_for_huge_pages(std::byte* data, std::size_t size) noexcept {
#if defined(MADV_HUGEPAGE)
  ::madvise(data, size, MADV_HUGEPAGE);
#endif
}

}  // namespace

HugeBlock::HugeBlock(std::size_t bytes, const std::string& what) : size_(rounded_up(bytes, kPage)) {
  if (size_ == 0) return;
  data_ = map_aligned(size_, PROT_READ | PROT_WRITE);
  if (!data_) {
    throw EngineError(ErrorCode::kOutOfMemory, "no memory for " + std::to_string(size_ >> 20) + " MB of " + what);
  }
  ask_for_huge_pages(data_, size_);
}

HugeBlock HugeBlock::of_file(const FileDescriptor& file, std::size_t bytes) noexcept {
  HugeBlock block;
  const std::size_t size = rounded_up(bytes, kPage);
  std::byte* const data = size == 0 ? nullptr : map_aligned(size, PROT_NONE);
  if (!data) return block;
  if (::mmap(data, size, PROT_READ, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED) {
    ::munmap(data, size);
    return block;
  }
  ask_for_huge_pages(data, size);
  block.data_ = data;
  block.size_ = size;
  return block;
}

bool HugeBlock::read_all() const noexcept {
#if defined(MADV_POPULATE_READ)
  return ::madvise(data_, size_, MADV_POPULATE_READ) == 0;
#else
  return false;
#endif
}

// The kernel's description of a mapping begins with a line "START-END ...", START in hexadecimal digits.
bool HugeBlock::is_in_huge_pages() const {
  std::ostringstream start;
  start << std::hex << reinterpret_cast<std::uintptr_t>(data_) << '-';
  const std::string field = "FilePmdMapped:";
  std::ifstream mappings("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(mappings, line);) {
    if (line.starts_with(start.str())) is_here = true;
    if (!is_here || !line.starts_with(field)) continue;
    const std::size_t kilobytes = std::strtoull(line.c_str() + field.size(), nullptr, 10);
    return kilobytes * 1024 * 2 > size_;
  }
  return false;
}

HugeBlock::HugeBlock(HugeBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HugeBlock::~HugeBlock() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace verbatim::transformer
