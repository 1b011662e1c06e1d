#pragma once

#include <cstdint>
#include <string>

namespace verbatim::transformer {

// Bytes of packed weights.
struct WeightCacheReport {
  // Found in the cache.
  std::uint64_t found_bytes = 0;
  // Of all weights, those that are shared with other processes.
  std::uint64_t shared_bytes = 0;
  std::uint64_t written_bytes = 0;
  // Why a file was not used or not written; empty: nothing is wrong.
  std::string problem;
};

}  // namespace verbatim::transformer
