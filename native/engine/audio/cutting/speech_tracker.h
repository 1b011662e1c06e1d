#pragma once

#include <cstdint>
#include <span>

namespace verbatim {

// Says of a signal at 16 kHz, in frames of 10 ms, as it streams by, what of it is worth hearing.
class SpeechTracker {
 public:
  static constexpr int kFrameSamples = 160;

  struct Frame {
    // dBFS of the mean square, hum and offset taken off.
    float level = 0;
    // A pause in what goes on around it.
    bool low = false;
    // Nothing that could be speech.
    bool nothing = false;
  };

  virtual ~SpeechTracker() = default;

  // One frame; only the last may be shorter.
  virtual void push(std::span<const float> samples) = 0;
  // Nothing follows: labels the frames that still wait for what is behind them.
  virtual void finish() = 0;

  // Frames that are labelled and were not discarded can be read.
  virtual const Frame& at(std::int64_t frame) const = 0;
  virtual std::int64_t labelled() const noexcept = 0;
  virtual void discard_before(std::int64_t frame) = 0;
};

}  // namespace verbatim
