#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "audio/decoding/audio_info.h"

namespace verbatim {

// Streams any WAV, FLAC, MP3 or OGG file as mono float32 at 16 kHz (the mean of the channels). The format is detected
// by content. Chained and spliced streams follow one another; behind damage, decoding continues with the next whole
// part. Memory and time depend on the file's contents, never on its header's claims.
//
// A decoder can take megabytes (libFLAC: two blocks of up to 65,535 samples for every channel). A reader holds at most
// one decoder if nothing is read before measuring is complete, and none between the end of measuring and the first
// read. Not thread-safe: one call at a time.
class AudioReader {
 public:
  // Throws EngineError: kUnsupportedAudioFormat, kInvalidAudio, kIoError (not a readable regular file), kOutOfMemory.
  // Reads headers only; for OGG it reads and checks every page (about 0.1 s for 100 MB).
  explicit AudioReader(const std::filesystem::path& path);
  ~AudioReader();
  AudioReader(AudioReader&&) noexcept;
  AudioReader& operator=(AudioReader&&) noexcept;

  const AudioInfo& info() const noexcept;

  // Works for about `budget_seconds` of wall-clock time on the exact duration: that of the decoded samples, not the
  // header's. Returns the duration in seconds once it is known, and nothing before that. Does not disturb read().
  // Throws kInvalidAudio if the file holds no samples.
  std::optional<double> measure(double budget_seconds);

  // The seconds that measure() has counted so far. This lower bound of the duration serves to refuse a file early that
  // is too long: a few bytes of a compressed format can stand for hours.
  double measured_seconds() const noexcept;

  // The same in samples, over all channels and before resampling: the cost of decoding.
  double measured_samples() const noexcept;

  // Fills `out` with the next samples. Returns their number, less than out.size() only at the end. A file that is cut
  // or broken ends where decoding stops. Non-finite samples become 0.
  std::size_t read(std::span<float> out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
