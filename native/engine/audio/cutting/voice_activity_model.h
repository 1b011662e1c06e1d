#pragma once

#include <memory>
#include <span>

namespace verbatim {

// Hears one signal at 16 kHz, from its start on. One call at a time.
class VoiceActivityStream {
 public:
  virtual ~VoiceActivityStream() = default;

  // `samples`: the whole frames that follow those of the last call, within [-1, 1]; `out`: for each of them
  // how likely it is that somebody speaks in it, 0 to 1. How a signal is cut into calls does not matter.
  // Throws EngineError kOutOfMemory, kInternalError; the stream has ended then.
  virtual void probabilities(std::span<const float> samples, std::span<float> out) = 0;
};

// Tells speech from everything else. Safe to call from any number of threads.
class VoiceActivityModel {
 public:
  static constexpr int kFrameSamples = 512;

  virtual ~VoiceActivityModel() = default;

  // A new signal: what others were heard before does not matter. The stream may outlive the model. Throws
  // EngineError kOutOfMemory.
  virtual std::unique_ptr<VoiceActivityStream> open() const = 0;
};

}  // namespace verbatim
