#pragma once

#include <cstdint>
#include <span>

namespace verbatim {

// Labels the frames (10 ms) of a streamed signal at 16 kHz by whether they may hold speech.
class SpeechTracker {
 public:
  static constexpr int kFrameSamples = 160;

  struct Frame {
    // dBFS of the mean square, without hum and offset.
    float level = 0;
    // A pause in the surrounding sound.
    bool low = false;
    // Nothing that could be speech.
    bool nothing = false;
  };

  virtual ~SpeechTracker() = default;

  // One frame; only the last may be shorter.
  virtual void push(std::span<const float> samples) = 0;
  // The end of the signal: labels the frames that wait for later ones.
  virtual void finish() = 0;

  // For frames that are labelled and not discarded.
  virtual const Frame& at(std::int64_t frame) const = 0;
  virtual std::int64_t labelled() const noexcept = 0;
  virtual void discard_before(std::int64_t frame) = 0;
};

}  // namespace verbatim
