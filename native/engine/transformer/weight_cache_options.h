#pragma once

#include <cstdint>
#include <filesystem>

namespace verbatim::transformer {

// Weights that processes share are in the page cache, where not every system has huge pages; a copy has them.
enum class WeightSharing {
  // Shared where they are in huge pages, else copied.
  kInHugePages,
  kAlways,
  // As kInHugePages, but nothing is read where they would be copied.
  kOrNothing,
};

struct WeightCacheOptions {
  // The directory of one model's packed weights, which is made if its parent is there. Empty: weights are packed at
  // every start.
  std::filesystem::path directory;
  // The most bytes that the files there may take.
  std::uint64_t max_bytes = 0;
  WeightSharing sharing = WeightSharing::kInHugePages;
};

}  // namespace verbatim::transformer
