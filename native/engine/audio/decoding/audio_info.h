#pragma once

#include <string>

namespace verbatim {

struct AudioInfo {
  // "wav", "flac", "mp3" or "ogg"
  std::string container;
  // "pcm_s16", "pcm_s24", "float", "alaw", "ulaw", "flac", "mp3", "vorbis", "opus", ...
  std::string codec;
  // Hz as stored, 4,000 to 384,000.
  int sample_rate = 0;
  // 1 to 32.
  int channels = 0;
};

}  // namespace verbatim
