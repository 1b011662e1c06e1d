#pragma once

#include <memory>
#include <vector>

#include "audio/cutting/kept_frames.h"
#include "audio/cutting/signal_tracker.h"
#include "audio/cutting/speech_tracker.h"
#include "audio/cutting/voice_activity_model.h"
#include "audio/cutting/voice_hysteresis.h"

namespace verbatim {

// Detects speech with a voice activity model and by the level.
//
// - Where the model is sure, there is speech.
// - Within 1.5 s of anything that the model takes for possible speech, sound that rises above the background is speech
//   too: soft or distant words that a model does not detect, and their ends. There, sound 30 dB below the surrounding
//   speech is `low`, a pause.
// - Digital silence is never speech: a model's probability stays high for a while after a voice has ended.
//
// The model is called in blocks, and its stream exists from the first block to the end.
class VoiceTracker final : public SpeechTracker {
 public:
  // Seconds of a block: the most that one push has to compute.
  static constexpr double kBlockSeconds = 8;

  // The model must outlive the tracker.
  explicit VoiceTracker(const VoiceActivityModel& model);

  // Throws as the model does; the frames of that block are then never labelled.
  void push(std::span<const float> samples) override;
  void finish() override;
  const Frame& at(std::int64_t frame) const override { return frames_[frame]; }
  std::int64_t labelled() const noexcept override { return frames_.end(); }
  void discard_before(std::int64_t frame) override;

 private:
  void analyse(std::size_t frames);
  void label();

  const VoiceActivityModel& model_;
  // Null once the signal has ended.
  std::unique_ptr<VoiceActivityStream> stream_;
  SignalTracker signal_;
  VoiceHysteresis sure_;
  VoiceHysteresis near_;
  // The labelled frames.
  KeptFrames<Frame> frames_;
  std::int64_t samples_ = 0;
  // Samples that the model has not received yet; within [-1, 1].
  std::vector<float> waiting_;
};

}  // namespace verbatim
