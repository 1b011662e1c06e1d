#pragma once

#include <cstdint>
#include <span>

#include "audio/containers/ogg_page.h"

namespace verbatim {

// Checks a Vorbis stream's pages until its three header packets are complete (Vorbis I specification, section 4.2).
// libsndfile 1.2 leaks memory if they are not, so it must not be given such a stream.
class VorbisHeaders {
 public:
  // The stream's first page, and the bytes of its packet.
  void begin(const OggPage& page, std::span<const std::uint8_t> packet);
  // Each later page.
  void add(const OggPage& page);

  bool whole() const noexcept { return packets_ >= 3; }

 private:
  bool broken_ = true;
  int packets_ = 0;
  std::uint32_t next_number_ = 0;
  bool open_ = false;
};

}  // namespace verbatim
