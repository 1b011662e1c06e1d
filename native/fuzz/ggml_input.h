#pragma once

// Common parts of the fuzz targets for readers of ggml files. An input is a file in short form (pieces.h). The reader
// may throw nothing but EngineError.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"
#include "fuzz/pieces.h"
#include "speech/model_tensors.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace verbatim::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline std::string integers(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)};
}

inline void put_tensor(std::string& pieces, const std::string& name, const TensorShape& tensor) {
  std::int32_t rank = 4;
  while (rank > 1 && tensor.dimensions[static_cast<std::size_t>(rank - 1)] == 1) --rank;
  std::vector<std::int32_t> header = {rank, static_cast<std::int32_t>(name.size()),
                                      static_cast<std::int32_t>(tensor.type)};
  for (std::int32_t i = 0; i < rank; ++i) {
    header.push_back(static_cast<std::int32_t>(tensor.dimensions[static_cast<std::size_t>(i)]));
  }
  put_bytes(pieces, integers(header) + name);
  put_repeated(pieces, std::string(1, '\0'), static_cast<std::uint32_t>(tensor.bytes()));
}

// One input in 16 starts again from a new valid file, seed(number).
template <typename Seed>
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned random, Seed seed) {
  if (random % 16 == 0) {
    const std::string fresh = seed(random / 16);
    if (fresh.size() <= most) size = fresh.copy(reinterpret_cast<char*>(data), fresh.size());
  }
  return LLVMFuzzerMutate(data, size, most);
}

// Calls read(file) for the file that the input describes.
template <typename Read>
void run(const std::uint8_t* data, std::size_t size, Read read) {
  // More than the size of the largest seed.
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  Pieces file(std::string_view(reinterpret_cast<const char*>(data), size), kMostBytes);
  try {
    read(file);
  } catch (const EngineError& error) {
    require(error.code() == ErrorCode::kInvalidModel, error.what());
  }
}

}  // namespace verbatim::fuzz
