#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "audio/decoding/audio_info.h"

namespace verbatim {

// Decodes one run of a file that has one sample rate.
class Decoder {
 public:
  virtual ~Decoder() = default;

  virtual const AudioInfo& info() const noexcept = 0;

  // Reads the next frames, mixed down to mono (the mean of the channels); 0 at the end or where decoding stops.
  virtual std::size_t read(std::span<float> mono) = 0;

  // Passes over frames without delivering them: as many as read() would have delivered, in steps of at most a few
  // milliseconds. Returns their number, 0 at the end. A decoder is either read or skipped through.
  virtual std::int64_t skip();
};

// A file as a sequence of decoders: mostly one, more if streams are chained, spliced or damaged.
class Track {
 public:
  virtual ~Track() = default;

  // Decoder of the next run; null at the end. Throws EngineError kInvalidAudio or kUnsupportedAudioFormat for a run
  // that cannot be decoded; the next call continues behind it. Every call consumes some of the file.
  virtual std::unique_ptr<Decoder> next() = 0;
};

// Throws EngineError kInvalidAudio if rate or channels are out of the supported range.
void check_format(std::int64_t sample_rate, int channels);

}  // namespace verbatim
