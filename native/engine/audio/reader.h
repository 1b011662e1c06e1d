#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "audio/decoding/audio_info.h"

namespace verbatim {

// Streams any WAV, FLAC, MP3 or OGG file as mono float32 at 16 kHz (the mean of the channels). The format is
// decided by content. Chained and spliced streams follow one another; over damage, decoding goes on with the
// next part that is whole. Memory and time depend on what the file holds, never on what its header claims.
//
// A decoder can take megabytes (libFLAC: two blocks of up to 65,535 samples for every channel). A reader has
// one at most, as long as nothing is read before the measuring is over, and none between the end of measuring
// and the first read. Not thread-safe: one call at a time.
class AudioReader {
 public:
  // Throws EngineError: kUnsupportedAudioFormat, kInvalidAudio, kIoError (not a readable regular file),
  // kOutOfMemory. Reads headers only; of OGG every page, to check it (about 0.1 s for 100 MB).
  explicit AudioReader(const std::filesystem::path& path);
  ~AudioReader();
  AudioReader(AudioReader&&) noexcept;
  AudioReader& operator=(AudioReader&&) noexcept;

  const AudioInfo& info() const noexcept;

  // Works about `budget_seconds` of wall-clock time towards the exact duration (what the decoder really
  // delivers, not what the header claims). Returns the duration in seconds once it is known, nothing while
  // there is more to scan. Does not disturb read(). Throws kInvalidAudio when the file holds no samples.
  std::optional<double> measure(double budget_seconds);

  // What measure() has counted so far, seconds: a lower bound of the duration, to refuse early a file that is
  // too long. A few bytes of a compressed format can stand for hours.
  double measured_seconds() const noexcept;

  // The same in samples, over all channels and before any change of rate: what the decoding costs.
  double measured_samples() const noexcept;

  // Fills `out` with the next samples; returns how many, less than out.size() only at the end. A file that is
  // cut or broken in the middle ends where decoding stops. Non-finite samples become 0.
  std::size_t read(std::span<float> out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
