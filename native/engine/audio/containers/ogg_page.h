#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "audio/decoding/file.h"

namespace verbatim {

// A page of an OGG file (RFC 3533) whose checksum is right.
struct OggPage {
  std::int64_t offset = 0;
  // Bytes, header included; at most 65,307.
  std::int64_t length = 0;
  // Position in the stream at the end of the page, in the codec's units; -1 when no packet ends on it.
  std::int64_t granule = -1;
  std::uint32_t serial = 0;
  // Place among the stream's pages.
  std::uint32_t number = 0;
  bool begins_stream = false;
  // Begins, ends, in the middle of a packet.
  bool continues_packet = false;
  bool leaves_packet_open = false;
  // Packets that end on the page.
  int packets = 0;
  // Offset of the first packet's bytes in the file.
  std::int64_t body = 0;

  std::int64_t end() const { return offset + length; }
};

// Finds the pages of a range of a file, one after another. Time is linear in the range's length, even where
// bytes are arranged to look like pages that overlap.
class OggScanner {
 public:
  explicit OggScanner(ByteSource bytes);

  // Next whole page, over whatever stands in between; nothing at the end.
  std::optional<OggPage> next();

 private:
  std::optional<OggPage> page_at(std::int64_t offset);

  ByteSource bytes_;
  std::int64_t at_;
  // Bytes that may still be spent on pages that prove wrong.
  std::int64_t patience_;
};

}  // namespace verbatim
