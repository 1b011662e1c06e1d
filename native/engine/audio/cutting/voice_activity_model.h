#pragma once

#include <memory>
#include <span>

namespace verbatim {

// The voice activity of one signal at 16 kHz, from its start on. One call at a time.
class VoiceActivityStream {
 public:
  virtual ~VoiceActivityStream() = default;

  // `samples`: whole frames that follow those of the last call, within [-1, 1]. `out`: for each frame the probability
  // of speech, 0 to 1. The result does not depend on how a signal is split into calls. Throws EngineError kOutOfMemory,
  // kInternalError; the stream has ended then.
  virtual void probabilities(std::span<const float> samples, std::span<float> out) = 0;
};

// Distinguishes speech from other sound. Safe to call from any number of threads.
class VoiceActivityModel {
 public:
  static constexpr int kFrameSamples = 512;

  virtual ~VoiceActivityModel() = default;

  // Starts a new signal, independent of others. The stream may outlive the model. Throws EngineError kOutOfMemory.
  virtual std::unique_ptr<VoiceActivityStream> open() const = 0;
};

}  // namespace verbatim
