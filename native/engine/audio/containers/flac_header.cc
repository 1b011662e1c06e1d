// RFC 9639, Free Lossless Audio Codec.
#include "audio/containers/flac_header.h"

#include <algorithm>

namespace verbatim {
namespace {

// CRC-8 with the polynomial x^8 + x^2 + x + 1, as in frame headers.
std::uint8_t crc8(std::span<const std::uint8_t> bytes) {
  std::uint8_t crc = 0;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = static_cast<std::uint8_t>(crc << 1 ^ (crc & 0x80 ? 0x07 : 0));
  }
  return crc;
}

}  // namespace

FlacStreamInfo::FlacStreamInfo(std::span<const std::uint8_t, kBytes> block) {
  std::ranges::copy(block, block_.begin());
}

std::vector<std::uint8_t> FlacStreamInfo::clean_header() const {
  auto block = block_;
  const int bits = ((block[12] & 1) << 4 | block[13] >> 4) + 1;
  // libsndfile supports 8, 16 and 24 bits. Frames have their own depth, so the next larger of these works.
  const int shown = (bits <= 8 ? 8 : bits <= 16 ? 16 : 24) - 1;
  block[12] = static_cast<std::uint8_t>((block[12] & 0xFE) | shown >> 4);
  block[13] = static_cast<std::uint8_t>((shown & 0x0F) << 4);
  std::fill(block.begin() + 4, block.begin() + 10, 0);  // frame sizes: unknown
  std::fill(block.begin() + 14, block.end(), 0);        // number of samples and MD5: unknown
  constexpr std::array<std::uint8_t, 8> kMarker = {'f', 'L', 'a', 'C', 0x80, 0, 0, kBytes};
  std::vector<std::uint8_t> head(kMarker.size() + kBytes);
  std::ranges::copy(block, std::ranges::copy(kMarker, head.begin()).out);
  return head;
}

bool is_flac_frame_header(std::span<const std::uint8_t> b) {
  if (b.size() < 6 || b[0] != 0xFF || (b[1] & 0xFE) != 0xF8) return false;
  const int block_size = b[2] >> 4;
  const int rate = b[2] & 0x0F;
  if (block_size == 0 || rate == 0x0F || (b[3] >> 4) > 10 || (b[3] & 1) != 0) return false;
  int coded_number = 1;
  while (coded_number < 7 && (b[4] << (coded_number - 1) & 0xC0) == 0xC0) ++coded_number;
  const int size_bytes = block_size == 6 ? 1 : block_size == 7 ? 2 : 0;
  const int rate_bytes = rate == 12 ? 1 : rate == 13 || rate == 14 ? 2 : 0;
  const auto length = static_cast<std::size_t>(4 + coded_number + size_bytes + rate_bytes);
  return length < b.size() && crc8(b.first(length)) == b[length];
}

}  // namespace verbatim
