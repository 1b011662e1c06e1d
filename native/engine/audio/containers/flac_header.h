#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace verbatim {

// The STREAMINFO block of a FLAC stream, native or in OGG (RFC 9639, section 8.2).
class FlacStreamInfo {
 public:
  static constexpr std::size_t kBytes = 34;

  explicit FlacStreamInfo(std::span<const std::uint8_t, kBytes> block);

  // As in the block, unchecked.
  int sample_rate() const noexcept { return block_[10] << 12 | block_[11] << 4 | block_[12] >> 4; }
  int channels() const noexcept { return (block_[12] >> 1 & 7) + 1; }

  // The header that libFLAC reads in front of the frames: the marker and this block alone. Claims that could be wrong
  // and all other metadata are removed.
  std::vector<std::uint8_t> clean_header() const;

 private:
  std::array<std::uint8_t, kBytes> block_;
};

// Longest frame header with its checksum, bytes.
inline constexpr std::size_t kLongestFlacFrameHeader = 17;

// Whether the bytes begin with a whole frame header with a valid checksum.
bool is_flac_frame_header(std::span<const std::uint8_t> bytes);

}  // namespace verbatim
