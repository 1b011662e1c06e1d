#include "audio/containers/ogg_page.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "audio/decoding/bytes.h"

namespace verbatim {
namespace {

constexpr std::size_t kHeaderBytes = 27;
constexpr std::size_t kLongestPage = kHeaderBytes + 255 + 255 * 255;
static_assert(kLongestPage <= ByteSource::kMaxView);

// CRC-32 of OGG: polynomial 0x04C11DB7, most significant bit first, no inversion; four bytes at a time.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr CrcTables make_tables() {
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i << 24;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc & 0x80000000u) != 0 ? 0x04C11DB7u : 0);
    tables[0][i] = crc;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t k = 1; k < 4; ++k) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = before << 8 ^ tables[0][before >> 24];
    }
  }
  return tables;
}

constexpr CrcTables kCrc = make_tables();

std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
  for (; bytes.size() >= 4; bytes = bytes.subspan(4)) {
    crc ^= be32(bytes);
    crc = kCrc[3][crc >> 24] ^ kCrc[2][crc >> 16 & 0xFF] ^ kCrc[1][crc >> 8 & 0xFF] ^ kCrc[0][crc & 0xFF];
  }
  for (const std::uint8_t byte : bytes) crc = crc << 8 ^ kCrc[0][crc >> 24 ^ byte];
  return crc;
}

// The checksum is computed with its own field set to zeros.
bool checksum_holds(std::span<const std::uint8_t> page) {
  constexpr std::array<std::uint8_t, 4> kZeros{};
  const std::uint32_t crc = crc32(crc32(crc32(0, page.first(22)), kZeros), page.subspan(26));
  return crc == le32(page.subspan(22));
}

}  // namespace

OggScanner::OggScanner(ByteSource bytes)
    : bytes_(std::move(bytes)),
      at_(bytes_.begin()),
      bytes_left_(2 * (bytes_.end() - bytes_.begin()) + (std::int64_t{1} << 20)) {}

std::optional<OggPage> OggScanner::page_at(std::int64_t offset) {
  const auto page = bytes_.view(offset, kLongestPage);
  if (page.size() < kHeaderBytes || std::memcmp(page.data(), "OggS", 5) != 0) return std::nullopt;
  const std::size_t segments = page[26];
  if (page.size() < kHeaderBytes + segments) return std::nullopt;
  const auto lacing = page.subspan(kHeaderBytes, segments);
  const std::size_t length = std::accumulate(lacing.begin(), lacing.end(), kHeaderBytes + segments);
  if (page.size() < length) return std::nullopt;
  if (!checksum_holds(page.first(length))) {
    bytes_left_ -= static_cast<std::int64_t>(length);
    return std::nullopt;
  }
  return OggPage{.offset = offset,
                 .length = static_cast<std::int64_t>(length),
                 .granule = static_cast<std::int64_t>(le64(page.subspan(6))),
                 .serial = le32(page.subspan(14)),
                 .number = le32(page.subspan(18)),
                 .begins_stream = (page[5] & 2) != 0,
                 .continues_packet = (page[5] & 1) != 0,
                 .leaves_packet_open = !lacing.empty() && lacing.back() == 255,
                 .packets = static_cast<int>(std::ranges::count_if(lacing, [](auto part) { return part < 255; })),
                 .body = offset + static_cast<std::int64_t>(kHeaderBytes + segments)};
}

std::optional<OggPage> OggScanner::next() {
  while (at_ < bytes_.end() && bytes_left_ > 0) {
    if (auto page = page_at(at_)) {
      at_ = page->end();
      return page;
    }
    const auto window = bytes_.view(at_ + 1, 4096);
    if (window.empty()) break;
    const auto* capture = static_cast<const std::uint8_t*>(std::memchr(window.data(), 'O', window.size()));
    at_ += 1 + (capture == nullptr ? static_cast<std::int64_t>(window.size()) : capture - window.data());
  }
  return std::nullopt;
}

}  // namespace verbatim
