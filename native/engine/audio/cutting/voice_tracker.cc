#include "audio/cutting/voice_tracker.h"

#include <algorithm>

#include "audio/sample_rate.h"

namespace verbatim {
namespace {

constexpr std::size_t kModelFrame = VoiceActivityModel::kFrameSamples;
constexpr auto kBlockFrames =
    static_cast<std::size_t>(VoiceTracker::kBlockSeconds * kSampleRate / kModelFrame);

}  // namespace

VoiceTracker::VoiceTracker(const VoiceActivityModel& model, const VoiceRules& rules)
    : model_(model), hysteresis_(rules, static_cast<int>(kModelFrame)) {}

void VoiceTracker::push(std::span<const float> samples) {
  frames_.push_back({.level = decibels(meter_.power(samples))});
  samples_ += static_cast<std::int64_t>(samples.size());
  for (const float sample : samples) waiting_.push_back(std::clamp(sample, -1.0f, 1.0f));
  if (waiting_.size() < kBlockFrames * kModelFrame) return;
  hear(kBlockFrames);
  label();
}

void VoiceTracker::finish() {
  const std::size_t frames = (waiting_.size() + kModelFrame - 1) / kModelFrame;
  waiting_.resize(frames * kModelFrame, 0.0f);
  hear(frames);
  stream_.reset();
  hysteresis_.finish(samples_);
  label();
}

// So many of the waiting frames.
void VoiceTracker::hear(std::size_t frames) {
  if (frames == 0) return;
  if (!stream_) stream_ = model_.open();
  const std::size_t count = frames * kModelFrame;
  std::vector<float> probabilities(frames);
  stream_->probabilities(std::span(waiting_).first(count), probabilities);
  hysteresis_.push(probabilities);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

void VoiceTracker::label() {
  const std::int64_t newest = first_ + static_cast<std::int64_t>(frames_.size());
  for (; labelled_ < newest; ++labelled_) {
    const std::int64_t begin = labelled_ * kFrameSamples;
    const std::int64_t end = std::min(begin + kFrameSamples, samples_);
    if (end > hysteresis_.decided()) return;
    Frame& frame = frames_[static_cast<std::size_t>(labelled_ - first_)];
    frame.low = frame.nothing = !hysteresis_.has_speech(begin, end);
  }
}

void VoiceTracker::discard_before(std::int64_t frame) {
  for (; first_ < std::min(frame, labelled_); ++first_) frames_.pop_front();
}

}  // namespace verbatim
