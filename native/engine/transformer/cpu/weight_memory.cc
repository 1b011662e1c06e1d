#include "transformer/cpu/weight_memory.h"

#include "error.h"

namespace verbatim::transformer {

std::size_t WeightMemory::advance(std::size_t bytes) {
  const std::size_t needed = aligned(bytes);
  if (needed > size() - used_) throw EngineError(ErrorCode::kInternalError, "weight memory was sized too small");
  const std::size_t first = used_;
  used_ += needed;
  return first;
}

}  // namespace verbatim::transformer
