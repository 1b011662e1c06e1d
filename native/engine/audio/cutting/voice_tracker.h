#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "audio/cutting/level_meter.h"
#include "audio/cutting/speech_tracker.h"
#include "audio/cutting/voice_activity_model.h"
#include "audio/cutting/voice_hysteresis.h"

namespace verbatim {

// Hears speech with a model of voice activity: what is not speech is `low` and `nothing`. The model is asked
// block by block, and holds what it keeps of the signal from the first block to the end.
class VoiceTracker final : public SpeechTracker {
 public:
  // Seconds of a block: what one push may have to compute at most.
  static constexpr double kBlockSeconds = 8;

  // The model must outlive the tracker.
  explicit VoiceTracker(const VoiceActivityModel& model, const VoiceRules& rules = {});

  // Throws as the model does; then the frames of that block are never labelled.
  void push(std::span<const float> samples) override;
  void finish() override;
  const Frame& at(std::int64_t frame) const override {
    return frames_[static_cast<std::size_t>(frame - first_)];
  }
  std::int64_t labelled() const noexcept override { return labelled_; }
  void discard_before(std::int64_t frame) override;

 private:
  void hear(std::size_t frames);
  void label();

  const VoiceActivityModel& model_;
  // While the signal goes on.
  std::unique_ptr<VoiceActivityStream> stream_;
  VoiceHysteresis hysteresis_;
  LevelMeter meter_;
  std::deque<Frame> frames_;
  std::int64_t first_ = 0;
  std::int64_t labelled_ = 0;
  std::int64_t samples_ = 0;
  // What the model has not heard yet; within [-1, 1].
  std::vector<float> waiting_;
};

}  // namespace verbatim
