#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace verbatim {

enum class SampleEncoding {
  // Signed 16-bit integers, little-endian.
  kInt16,
  // 32-bit floats, little-endian, nominally in [-1, 1].
  kFloat32,
  // G.711, a byte a sample.
  kMuLaw,
  kALaw,
};

// Samples without a header. A frame is one sample of every channel.
struct SampleFormat {
  SampleEncoding encoding = SampleEncoding::kInt16;
  // Hz, 8,000 to 48,000.
  int sample_rate = 16000;
  // 1 to 32.
  int channels = 1;
};

// Throws EngineError kInvalidArgument for values out of range.
void check_sample_format(const SampleFormat& format);

std::size_t bytes_per_frame(const SampleFormat& format);

// Makes mono floats (the mean of the channels) of bytes that arrive in pieces of any size, also split inside a sample.
// Floats that are not finite become 0; others are limited to 18 dB above full scale.
class FrameDecoder {
 public:
  // The format must be in range.
  explicit FrameDecoder(const SampleFormat& format);

  // Appends the samples of all frames that are complete now. The bytes of the last, incomplete one are kept.
  void decode(std::span<const std::byte> bytes, std::vector<float>& out);

 private:
  SampleFormat format_;
  std::size_t frame_bytes_;
  // Less than a frame.
  std::vector<std::byte> partial_;
};

}  // namespace verbatim
