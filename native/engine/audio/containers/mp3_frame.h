#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "audio/decoding/file.h"

namespace verbatim {

// Header of an MPEG-1, -2 or -2.5 audio frame, layer III.
struct Mp3Header {
  int sample_rate = 0;
  int channels = 0;
  // Samples per channel in the frame: 1152 or 576.
  int samples = 0;
  // Bytes with the header; at most 1441.
  int length = 0;

  // Whether both may be in one stream that is decoded without interruption.
  bool continues(const Mp3Header& other) const { return sample_rate == other.sample_rate && samples == other.samples; }
};

// Parses four bytes; empty if they are no layer III header. Free-format frames (bit rate 0) are not supported: their
// length is not stored.
std::optional<Mp3Header> parse_mp3_header(std::span<const std::uint8_t> bytes);

// Data in an encoder's first frame, which holds no audio ("Xing", "Info", "VBRI").
struct Mp3InfoFrame {
  // Audio frames that follow; 0 if unknown.
  std::uint32_t frames = 0;
  // Samples that the encoder added before and behind the audio; 0 if unknown.
  int delay = 0;
  int padding = 0;
};

// `frame` is a whole frame; the result is empty for an ordinary one.
std::optional<Mp3InfoFrame> parse_mp3_info_frame(std::span<const std::uint8_t> frame, const Mp3Header& header);

struct Mp3Frame {
  Mp3Header header;
  std::int64_t offset = 0;
};

// Iterates over the frames of a range of a file and skips tags and damage. Time is linear in the range's length.
class Mp3Scanner {
 public:
  explicit Mp3Scanner(ByteSource bytes) : bytes_(std::move(bytes)), at_(bytes_.begin()) {}

  // Next whole frame; empty at the end. Behind bytes that are no frame, a frame counts only if others follow it.
  std::optional<Mp3Frame> next();

  // Moves back to the last frame, so that next() returns it again.
  void back() noexcept { at_ = last_; }

  // First offset that was not read yet.
  std::int64_t position() const noexcept { return at_; }

  std::span<const std::uint8_t> bytes_of(const Mp3Frame& frame);

 private:
  std::optional<Mp3Frame> frame_at(std::int64_t offset);
  bool confirmed(const Mp3Frame& frame);
  bool skip_tag();
  std::optional<Mp3Frame> resynchronise();

  ByteSource bytes_;
  std::int64_t at_;
  std::int64_t last_ = 0;
  std::optional<Mp3Header> previous_;
};

// Length of an ID3v2 tag (header and footer included) at `offset`; 0 if there is none.
std::int64_t id3v2_length(ByteSource& bytes, std::int64_t offset);

}  // namespace verbatim
