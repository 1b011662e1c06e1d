#pragma once

#include <memory>
#include <vector>

#include "audio/cutting/kept_frames.h"
#include "audio/cutting/signal_tracker.h"
#include "audio/cutting/speech_tracker.h"
#include "audio/cutting/voice_activity_model.h"
#include "audio/cutting/voice_hysteresis.h"

namespace verbatim {

// Hears speech with a model of voice activity and by the level.
//
// - What the model is sure of is speech.
// - Within 1.5 s of anything that it takes for possible, so is what stands out of the background: words said
//   softly or far away that a model does not hear, and their ends. What is 30 dB below the speech around it
//   is `low` there, a pause.
// - Digital silence is none: a model goes on hearing for a while when a voice has ended.
//
// The model is asked block by block, and holds what it keeps of the signal from the first block to the end.
class VoiceTracker final : public SpeechTracker {
 public:
  // Seconds of a block: what one push may have to compute at most.
  static constexpr double kBlockSeconds = 8;

  // The model must outlive the tracker.
  explicit VoiceTracker(const VoiceActivityModel& model);

  // Throws as the model does; then the frames of that block are never labelled.
  void push(std::span<const float> samples) override;
  void finish() override;
  const Frame& at(std::int64_t frame) const override { return frames_[frame]; }
  std::int64_t labelled() const noexcept override { return frames_.end(); }
  void discard_before(std::int64_t frame) override;

 private:
  void hear(std::size_t frames);
  void label();

  const VoiceActivityModel& model_;
  // While the signal goes on.
  std::unique_ptr<VoiceActivityStream> stream_;
  SignalTracker signal_;
  VoiceHysteresis sure_;
  VoiceHysteresis near_;
  // Labelled.
  KeptFrames<Frame> frames_;
  std::int64_t samples_ = 0;
  // What the model has not heard yet; within [-1, 1].
  std::vector<float> waiting_;
};

}  // namespace verbatim
