// Multimedia Programming Interface and Data Specifications 1.0 (RIFF, WAVE); EBU Tech 3306 (RF64); ITU-R BS.2088
// (BW64); WAVEFORMATEXTENSIBLE by Microsoft.
#include "audio/containers/wav_header.h"

#include <algorithm>
#include <array>
#include <optional>

#include "audio/decoding/bytes.h"
#include "error.h"

namespace verbatim {
namespace {

// KSDATAFORMAT_SUBTYPE_*: these bytes follow the format tag. The second is the sub-type of ambisonic B-format files.
constexpr std::array<std::uint8_t, 14> kSubtype = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71};
constexpr std::array<std::uint8_t, 14> kAmbisonic = {0,    0,    0x21, 0x07, 0xD3, 0x11, 0x86,
                                                     0x44, 0xC8, 0xC1, 0xCA, 0,    0,    0};
constexpr std::uint32_t kUnknownSize = 0xFFFFFFFF;

[[noreturn]] void invalid(const std::string& message) {
  throw EngineError(ErrorCode::kInvalidAudio, "the WAV file " + message);
}

class Parser {
 public:
  explicit Parser(ByteSource& bytes)
      : bytes_(bytes),
        big_endian_(bytes.matches(bytes.begin(), "RIFX")),
        sizes_in_ds64_(bytes.matches(bytes.begin(), "RF64") || bytes.matches(bytes.begin(), "BW64")) {
    header_.big_endian = big_endian_;
  }

  WavHeader parse() {
    std::int64_t at = bytes_.begin() + 12;
    while (!(has_format_ && has_data_)) {
      const auto chunk = bytes_.view(at, 8);
      if (chunk.size() < 8) break;
      const std::string name(chunk.begin(), chunk.begin() + 4);
      const std::uint32_t size = u32(chunk.subspan(4));
      const std::int64_t body = at + 8;
      std::int64_t length = size;
      if (name == "ds64") read_ds64(body);
      if (name == "fact") read_fact(body);
      if (name == "fmt " && !has_format_) read_format(body, size);
      if (name == "data" && !has_data_) length = read_data(body, size);
      at = body + length + (length & 1);
    }
    if (!has_format_) invalid("has no 'fmt ' chunk");
    if (!has_data_) invalid("has no 'data' chunk");
    return header_;
  }

 private:
  std::uint16_t u16(std::span<const std::uint8_t> b) const { return big_endian_ ? be16(b) : le16(b); }
  std::uint32_t u32(std::span<const std::uint8_t> b) const { return big_endian_ ? be32(b) : le32(b); }

  void read_ds64(std::int64_t body) {
    const auto sizes = bytes_.view(body, 16);
    if (sizes.size() == 16) ds64_data_size_ = le64(sizes.subspan(8));
  }

  void read_fact(std::int64_t body) {
    const auto frames = bytes_.view(body, 4);
    if (frames.size() == 4) header_.fact_frames = u32(frames);
  }

  void read_format(std::int64_t body, std::uint32_t size) {
    const auto chunk = bytes_.view(body, std::min<std::uint32_t>(size, 40));
    if (chunk.size() < 16) invalid("has a 'fmt ' chunk of " + std::to_string(chunk.size()) + " bytes; 16 is the least");
    header_.format = u16(chunk);
    header_.channels = u16(chunk.subspan(2));
    header_.sample_rate = u32(chunk.subspan(4));
    header_.block_align = u16(chunk.subspan(12));
    header_.bits_per_sample = u16(chunk.subspan(14));
    if (header_.format == WavHeader::kExtensible && chunk.size() == 40) {
      const auto rest = chunk.subspan(26, 14);
      if (std::ranges::equal(rest, kSubtype) || std::ranges::equal(rest, kAmbisonic)) {
        header_.format = u16(chunk.subspan(24));
      }
    }
    has_format_ = true;
  }

  // Returns the chunk's real length.
  std::int64_t read_data(std::int64_t body, std::uint32_t size) {
    const std::int64_t available = std::max<std::int64_t>(0, bytes_.end() - body);
    std::int64_t length = std::min<std::int64_t>(size, available);
    if (size == kUnknownSize) {
      const bool known = sizes_in_ds64_ && ds64_data_size_ && *ds64_data_size_ != 0;
      length = known && *ds64_data_size_ < static_cast<std::uint64_t>(available)
                   ? static_cast<std::int64_t>(*ds64_data_size_)
                   : available;
    } else if (size == 0 && !is_chunk(body)) {
      // The recorder stopped before it could write the size.
      length = available;
    }
    header_.data_begin = body;
    header_.data_end = body + length;
    has_data_ = true;
    return length;
  }

  // Whether a chunk that fits into the file starts here.
  bool is_chunk(std::int64_t at) {
    const auto head = bytes_.view(at, 8);
    if (head.size() < 8) return false;
    const bool name = std::ranges::all_of(head.first(4), [](std::uint8_t c) { return c >= 0x20 && c < 0x7F; });
    return name && at + 8 + static_cast<std::int64_t>(u32(head.subspan(4))) <= bytes_.end();
  }

  ByteSource& bytes_;
  const bool big_endian_;
  const bool sizes_in_ds64_;
  WavHeader header_;
  bool has_format_ = false;
  bool has_data_ = false;
  std::optional<std::uint64_t> ds64_data_size_;
};

}  // namespace

WavHeader read_wav_header(ByteSource& bytes) { return Parser(bytes).parse(); }

}  // namespace verbatim
