#pragma once

#include <cstddef>
#include <cstring>

namespace verbatim {

// A value of T from bytes at any address, in the machine's own order; the caller answers for sizeof(T) of
// them.
template <typename T>
T load_unaligned(const std::byte* source) noexcept {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

}  // namespace verbatim
