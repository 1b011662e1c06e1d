#include "transformer/cpu/weight_memory.h"

#include "error.h"

namespace verbatim::transformer {

std::span<std::byte> WeightMemory::take(std::size_t bytes) {
  const std::size_t needed = aligned(bytes);
  if (needed > size() - used_) throw EngineError(ErrorCode::kInternalError, "weight memory was sized too small");
  std::byte* part = block_.data() + used_;
  used_ += needed;
  return {part, bytes};
}

}  // namespace verbatim::transformer
