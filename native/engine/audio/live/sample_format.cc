#include "audio/live/sample_format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "load_unaligned.h"
#include "require_option.h"

namespace verbatim {
namespace {

constexpr int kLowestRate = 8000;
constexpr int kHighestRate = 48000;
constexpr int kMostChannels = 32;
constexpr float kLargest = 8.0f;
constexpr float kFullScale = 32768.0f;

using Table = std::array<float, 256>;

// G.711 codes as linear samples: the tables of 13 and 14 bits, scaled to 16.
constexpr Table mu_law() {
  constexpr int kBias = 0x84;
  Table table{};
  for (int code = 0; code < 256; ++code) {
    const int bits = ~code & 0xff;
    const int magnitude = ((((bits & 0x0f) << 3) + kBias) << ((bits & 0x70) >> 4)) - kBias;
    table[static_cast<std::size_t>(code)] =
        static_cast<float>((bits & 0x80) != 0 ? -magnitude : magnitude) / kFullScale;
  }
  return table;
}

constexpr Table a_law() {
  Table table{};
  for (int code = 0; code < 256; ++code) {
    const int bits = code ^ 0x55;
    const int exponent = (bits & 0x70) >> 4;
    const int mantissa = ((bits & 0x0f) << 4) + 8;
    const int magnitude = exponent == 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
    table[static_cast<std::size_t>(code)] =
        static_cast<float>((bits & 0x80) != 0 ? magnitude : -magnitude) / kFullScale;
  }
  return table;
}

constexpr Table kMuLawTable = mu_law();
constexpr Table kALawTable = a_law();

float finite(float value) { return std::isfinite(value) ? std::clamp(value, -kLargest, kLargest) : 0.0f; }

std::size_t bytes_per_sample(SampleEncoding encoding) {
  if (encoding == SampleEncoding::kInt16) return 2;
  return encoding == SampleEncoding::kFloat32 ? 4 : 1;
}

template <typename Value>
void mix(std::span<const std::byte> bytes, std::size_t sample_bytes, std::size_t channels, std::vector<float>& out,
         Value value) {
  const float part = 1.0f / static_cast<float>(channels);
  for (const std::byte* at = bytes.data(); at != bytes.data() + bytes.size();) {
    float sum = 0;
    for (std::size_t channel = 0; channel < channels; ++channel, at += sample_bytes) sum += value(at);
    out.push_back(channels == 1 ? sum : sum * part);
  }
}

// `bytes`: whole frames.
void decode_frames(const SampleFormat& format, std::span<const std::byte> bytes, std::vector<float>& out) {
  const std::size_t size = bytes_per_sample(format.encoding);
  const auto channels = static_cast<std::size_t>(format.channels);
  switch (format.encoding) {
    case SampleEncoding::kInt16:
      return mix(bytes, size, channels, out,
                 [](const std::byte* at) { return static_cast<float>(load_unaligned<std::int16_t>(at)) / kFullScale; });
    case SampleEncoding::kFloat32:
      return mix(bytes, size, channels, out, [](const std::byte* at) { return finite(load_unaligned<float>(at)); });
    case SampleEncoding::kMuLaw:
      return mix(bytes, size, channels, out,
                 [](const std::byte* at) { return kMuLawTable[std::to_integer<std::size_t>(*at)]; });
    case SampleEncoding::kALaw:
      return mix(bytes, size, channels, out,
                 [](const std::byte* at) { return kALawTable[std::to_integer<std::size_t>(*at)]; });
  }
}

}  // namespace

void check_sample_format(const SampleFormat& format) {
  require_option(format.sample_rate >= kLowestRate && format.sample_rate <= kHighestRate, "sample_rate",
                 format.sample_rate, "8000 to 48000");
  require_option(format.channels >= 1 && format.channels <= kMostChannels, "channels", format.channels, "1 to 32");
}

std::size_t bytes_per_frame(const SampleFormat& format) {
  return bytes_per_sample(format.encoding) * static_cast<std::size_t>(format.channels);
}

FrameDecoder::FrameDecoder(const SampleFormat& format) : format_(format), frame_bytes_(bytes_per_frame(format)) {}

void FrameDecoder::decode(std::span<const std::byte> bytes, std::vector<float>& out) {
  if (!partial_.empty()) {
    const std::size_t count = std::min(frame_bytes_ - partial_.size(), bytes.size());
    partial_.insert(partial_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (partial_.size() < frame_bytes_) return;
    decode_frames(format_, partial_, out);
    partial_.clear();
  }
  const std::size_t whole = bytes.size() / frame_bytes_ * frame_bytes_;
  decode_frames(format_, bytes.first(whole), out);
  const auto rest = bytes.subspan(whole);
  partial_.assign(rest.begin(), rest.end());
}

}  // namespace verbatim
