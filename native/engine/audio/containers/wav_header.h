#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audio/decoding/file.h"

namespace verbatim {

// The contents of a WAV file's chunks, corrected by the real size of the file. RIFF, RIFX (big-endian), RF64 and BW64.
struct WavHeader {
  // WAVE_FORMAT_*; for WAVE_FORMAT_EXTENSIBLE the sub-format.
  enum Format : std::uint16_t {
    kPcm = 1,
    kMsAdpcm = 2,
    kFloat = 3,
    kALaw = 6,
    kMuLaw = 7,
    kImaAdpcm = 0x11,
    kGsm610 = 0x31,
    kMp3 = 0x55,
    kExtensible = 0xFFFE,
  };
  std::uint16_t format = 0;
  int channels = 0;
  std::int64_t sample_rate = 0;
  // Bytes of a block: one sample of every channel, or one block of a block codec.
  int block_align = 0;
  int bits_per_sample = 0;
  // Number of frames in the 'fact' chunk, 0 if it is missing. Block codecs need it, since their last block is padded.
  std::int64_t fact_frames = 0;
  bool big_endian = false;
  // The samples' range in the file; never beyond its end.
  std::int64_t data_begin = 0;
  std::int64_t data_end = 0;
};

// Time is bounded by the file's size, whatever the chunks declare. Throws EngineError kInvalidAudio for a missing or
// short 'fmt ' chunk or a missing 'data' chunk.
WavHeader read_wav_header(ByteSource& bytes);

}  // namespace verbatim
