#pragma once

#include <cstddef>
#include <cstring>

namespace verbatim {

// Reads a T from bytes at any address, in the machine's byte order. There must be sizeof(T) bytes.
template <typename T>
T load_unaligned(const std::byte* source) noexcept {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

}  // namespace verbatim
