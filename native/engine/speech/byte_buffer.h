#pragma once

#include <cstddef>
#include <span>
#include <streambuf>

namespace verbatim {

// A read-only stream buffer over bytes in memory; supports reading and skipping.
class ByteBuffer : public std::streambuf {
 public:
  explicit ByteBuffer(std::span<const std::byte> bytes) {
    char* const begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(begin, begin, begin + bytes.size());
  }

 private:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode mode) override {
    off_type base = 0;
    if (from == std::ios::end) base = egptr() - eback();
    if (from == std::ios::cur) base = gptr() - eback();
    return seekpos(base + offset, mode);
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode) override {
    const auto at = static_cast<off_type>(position);
    if (at < 0 || at > egptr() - eback()) return off_type(-1);
    setg(eback(), eback() + at, egptr());
    return position;
  }
};

}  // namespace verbatim
