// ISO/IEC 11172-3 and 13818-3 for the frame header; the Xing, LAME and Fraunhofer (VBRI) tags as their encoders write
// them; id3.org for ID3v2, and the APEv2 specification.
#include "audio/containers/mp3_frame.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "audio/decoding/bytes.h"

namespace verbatim {
namespace {

constexpr std::array<int, 15> kBitRates1 = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
constexpr std::array<int, 15> kBitRates2 = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
constexpr std::array<int, 3> kSampleRates = {44100, 48000, 32000};
constexpr std::size_t kLongestFrame = 1441;
// A frame behind a gap is accepted only if this many more frames follow directly. A chance match of two has a
// probability of about 1 in 5e5 per candidate, so two rule out random bytes in any file that can be uploaded.
constexpr int kConfirmations = 2;

bool text_at(std::span<const std::uint8_t> bytes, std::size_t offset, std::string_view text) {
  return offset + text.size() <= bytes.size() && std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
}

void read_encoder_delays(std::span<const std::uint8_t> tag, Mp3InfoFrame& info) {
  constexpr std::size_t kDelays = 21;
  const bool named = tag.size() >= kDelays + 3 &&
                     std::ranges::all_of(tag.first(4), [](std::uint8_t c) { return c >= 0x20 && c < 0x7F; });
  if (!named) return;
  info.delay = tag[kDelays] << 4 | tag[kDelays + 1] >> 4;
  info.padding = (tag[kDelays + 1] & 0x0F) << 8 | tag[kDelays + 2];
}

}  // namespace

std::optional<Mp3Header> parse_mp3_header(std::span<const std::uint8_t> b) {
  if (b.size() < 4 || b[0] != 0xFF || (b[1] & 0xE6) != 0xE2) return std::nullopt;
  const int version = b[1] >> 3 & 3;  // 0: MPEG-2.5, 2: MPEG-2, 3: MPEG-1
  const int bit_rate = b[2] >> 4;
  const int rate = b[2] >> 2 & 3;
  if (version == 1 || bit_rate == 0 || bit_rate == 15 || rate == 3 || (b[3] & 3) == 2) return std::nullopt;
  const bool first = version == 3;
  Mp3Header header;
  header.sample_rate = kSampleRates[rate] >> (first ? 0 : version == 2 ? 1 : 2);
  header.channels = b[3] >> 6 == 3 ? 1 : 2;
  header.samples = first ? 1152 : 576;
  const int kbps = first ? kBitRates1[bit_rate] : kBitRates2[bit_rate];
  header.length = header.samples / 8 * kbps * 1000 / header.sample_rate + (b[2] >> 1 & 1);
  return header;
}

std::optional<Mp3InfoFrame> parse_mp3_info_frame(std::span<const std::uint8_t> frame, const Mp3Header& header) {
  if (text_at(frame, 36, "VBRI")) return Mp3InfoFrame{};
  const std::size_t side_info =
      header.samples == 1152 ? (header.channels == 2 ? 32 : 17) : (header.channels == 2 ? 17 : 9);
  std::size_t at = 4 + side_info;
  if (!text_at(frame, at, "Xing") && !text_at(frame, at, "Info")) return std::nullopt;
  Mp3InfoFrame info;
  if (at + 8 > frame.size()) return info;
  const std::uint32_t flags = be32(frame.subspan(at + 4));
  at += 8;
  if ((flags & 1) != 0 && at + 4 <= frame.size()) info.frames = be32(frame.subspan(at));
  at += ((flags & 1) != 0 ? 4 : 0) + ((flags & 2) != 0 ? 4 : 0) + ((flags & 4) != 0 ? 100 : 0) +
        ((flags & 8) != 0 ? 4 : 0);
  if (at < frame.size()) read_encoder_delays(frame.subspan(at), info);
  return info;
}

std::int64_t id3v2_length(ByteSource& bytes, std::int64_t offset) {
  const auto b = bytes.view(offset, 10);
  if (b.size() < 10 || !text_at(b, 0, "ID3") || b[3] == 0xFF || b[4] == 0xFF) return 0;
  if (((b[6] | b[7] | b[8] | b[9]) & 0x80) != 0) return 0;
  const std::int64_t body = b[6] << 21 | b[7] << 14 | b[8] << 7 | b[9];
  return 10 + body + ((b[5] & 0x10) != 0 ? 10 : 0);
}

std::optional<Mp3Frame> Mp3Scanner::frame_at(std::int64_t offset) {
  const auto header = parse_mp3_header(bytes_.view(offset, 4));
  if (!header || offset + header->length > bytes_.end()) return std::nullopt;
  return Mp3Frame{*header, offset};
}

bool Mp3Scanner::confirmed(const Mp3Frame& frame) {
  Mp3Frame current = frame;
  for (int i = 0; i < kConfirmations; ++i) {
    const std::int64_t end = current.offset + current.header.length;
    // A file may end here or within a frame.
    if (i > 0 && end + 4 > bytes_.end()) return true;
    const auto header = parse_mp3_header(bytes_.view(end, 4));
    if (!header || !header->continues(frame.header)) return false;
    current = {*header, end};
  }
  return true;
}

// Tags may hold pictures and other bytes that look like frames.
bool Mp3Scanner::skip_tag() {
  std::int64_t length = id3v2_length(bytes_, at_);
  if (bytes_.matches(at_, "TAG")) length = 128;
  if (bytes_.matches(at_, "APETAGEX")) {
    const auto header = bytes_.view(at_, 32);
    const bool has_header = header.size() == 32 && (header[23] & 0x20) != 0;
    length = has_header ? 32 + static_cast<std::int64_t>(le32(header.subspan(12))) : 32;
  }
  // A tag whose length reaches beyond the end is invalid.
  if (length == 0 || at_ + length > bytes_.end()) return false;
  at_ += length;
  return true;
}

std::optional<Mp3Frame> Mp3Scanner::resynchronise() {
  while (at_ < bytes_.end()) {
    const auto window = bytes_.view(at_, 4096);
    if (window.empty()) break;
    const auto* sync = static_cast<const std::uint8_t*>(std::memchr(window.data(), 0xFF, window.size()));
    if (sync == nullptr) {
      at_ += static_cast<std::int64_t>(window.size());
      continue;
    }
    at_ += sync - window.data();
    const auto frame = frame_at(at_);
    if (frame && confirmed(*frame)) return frame;
    ++at_;
  }
  at_ = bytes_.end();
  return std::nullopt;
}

std::optional<Mp3Frame> Mp3Scanner::next() {
  auto frame = frame_at(at_);
  if (!frame || !previous_ || !frame->header.continues(*previous_)) {
    while (skip_tag()) {
    }
    frame = resynchronise();
  }
  if (!frame) return std::nullopt;
  last_ = frame->offset;
  at_ = frame->offset + frame->header.length;
  previous_ = frame->header;
  return frame;
}

std::span<const std::uint8_t> Mp3Scanner::bytes_of(const Mp3Frame& frame) {
  static_assert(kLongestFrame < ByteSource::kMaxView);
  return bytes_.view(frame.offset, static_cast<std::size_t>(frame.header.length));
}

}  // namespace verbatim
