#include "checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "load_unaligned.h"

namespace verbatim {
namespace {

static_assert(std::endian::native == std::endian::little, "XXH64 reads little-endian words");

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

std::uint64_t merged(std::uint64_t sum, std::uint64_t lane) noexcept {
  return (sum ^ mixed(0, lane)) * kPrime1 + kPrime4;
}

std::uint64_t avalanche(std::uint64_t sum) noexcept {
  sum = (sum ^ (sum >> 33)) * kPrime2;
  sum = (sum ^ (sum >> 29)) * kPrime3;
  return sum ^ (sum >> 32);
}

}  // namespace

std::array<std::uint64_t, 4> Checksum::initial_lanes() noexcept { return {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1}; }

void Checksum::add_stripe(const std::byte* stripe) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i] = mixed(lanes_[i], load_unaligned<std::uint64_t>(stripe + i * sizeof(std::uint64_t)));
  }
}

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  total_ += bytes.size();
  if (rest_size_ > 0) {
    const std::size_t count = std::min(kStripe - rest_size_, bytes.size());
    std::memcpy(rest_.data() + rest_size_, bytes.data(), count);
    rest_size_ += count;
    bytes = bytes.subspan(count);
    if (rest_size_ < kStripe) return;
    add_stripe(rest_.data());
    rest_size_ = 0;
  }
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) add_stripe(bytes.data());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
  rest_size_ = bytes.size();
}

std::uint64_t Checksum::value() const noexcept {
  std::uint64_t sum = kPrime5;
  if (total_ >= kStripe) {
    sum = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) sum = merged(sum, lane);
  }
  sum += total_;
  const std::byte* next = rest_.data();
  const std::byte* const end = next + rest_size_;
  for (; end - next >= 8; next += 8) {
    sum = std::rotl(sum ^ mixed(0, load_unaligned<std::uint64_t>(next)), 27) * kPrime1 + kPrime4;
  }
  if (end - next >= 4) {
    sum = std::rotl(sum ^ (load_unaligned<std::uint32_t>(next) * kPrime1), 23) * kPrime2 + kPrime3;
    next += 4;
  }
  for (; next != end; ++next) sum = std::rotl(sum ^ (std::to_integer<std::uint64_t>(*next) * kPrime5), 11) * kPrime1;
  return avalanche(sum);
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

}  // namespace verbatim
