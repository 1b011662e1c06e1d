#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "audio/live/sample_buffer.h"
#include "audio/resampler.h"

namespace verbatim {

// A signal at 16 kHz in two qualities: as files are resampled, and quickly, for decisions that must not wait for what a
// resampler holds back. At 16 kHz both are the same.
class LiveSignal {
 public:
  // rate: Hz. Throws EngineError kOutOfMemory.
  explicit LiveSignal(int rate);

  // Samples at the signal's rate. Non-finite results become 0.
  void push(std::span<const float> samples);
  // Lets go of what the resamplers hold back; both qualities are of the same length then. What follows is resampled as
  // another signal.
  void flush();

  SampleBuffer& fine() noexcept { return fine_; }
  const SampleBuffer& fine() const noexcept { return fine_; }
  SampleBuffer& quick() noexcept { return resampled() ? quick_ : fine_; }
  const SampleBuffer& quick() const noexcept { return resampled() ? quick_ : fine_; }

  // Approximate.
  std::size_t memory_bytes() const noexcept;

 private:
  bool resampled() const noexcept;

  Resampler fine_resampler_;
  Resampler quick_resampler_;
  SampleBuffer fine_;
  // Empty at 16 kHz.
  SampleBuffer quick_;
  // Samples at the signal's rate.
  std::int64_t pushed_ = 0;
  // The resamplers hold samples back.
  bool delayed_ = false;
};

}  // namespace verbatim
