#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace verbatim {

// XXH64 with seed 0, of bytes that arrive in pieces: as fast as memory, and any change within one 8-byte word is
// detected with certainty. It finds damage; it is no protection against an attacker.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  // Of all bytes so far.
  std::uint64_t value() const noexcept;

 private:
  static constexpr std::size_t kStripe = 32;

  void add_stripe(const std::byte* stripe) noexcept;

  std::array<std::uint64_t, 4> lanes_ = initial_lanes();
  std::uint64_t total_ = 0;
  // Bytes of a stripe that is not complete.
  std::array<std::byte, kStripe> rest_{};
  std::size_t rest_size_ = 0;

  static std::array<std::uint64_t, 4> initial_lanes() noexcept;
};

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace verbatim
