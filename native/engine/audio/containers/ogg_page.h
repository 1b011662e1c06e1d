#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "audio/decoding/file.h"

namespace verbatim {

// A page of an OGG file (RFC 3533) with a valid checksum.
struct OggPage {
  std::int64_t offset = 0;
  // Bytes with the header; at most 65,307.
  std::int64_t length = 0;
  // Position in the stream at the end of the page, in the codec's units; -1 if no packet ends on the page.
  std::int64_t granule = -1;
  std::uint32_t serial = 0;
  // Sequence number in the stream.
  std::uint32_t number = 0;
  bool begins_stream = false;
  // Whether the page begins within a packet, and whether it ends within one.
  bool continues_packet = false;
  bool leaves_packet_open = false;
  // Packets that end on the page.
  int packets = 0;
  // Offset in the file of the first packet's bytes.
  std::int64_t body = 0;

  std::int64_t end() const { return offset + length; }
};

// Finds the pages of a range of a file, one after another. Time is linear in the range's length, even if bytes imitate
// overlapping pages.
class OggScanner {
 public:
  explicit OggScanner(ByteSource bytes);

  // Next whole page, over any bytes in between; empty at the end.
  std::optional<OggPage> next();

 private:
  std::optional<OggPage> page_at(std::int64_t offset);

  ByteSource bytes_;
  std::int64_t at_;
  // Bytes that may still be read for pages that turn out invalid.
  std::int64_t bytes_left_;
};

}  // namespace verbatim
