#include "audio/cutting/voice_tracker.h"

#include <algorithm>

#include "audio/sample_rate.h"

namespace verbatim {
namespace {

constexpr int kModelFrame = VoiceActivityModel::kFrameSamples;
constexpr auto kBlockFrames = static_cast<std::size_t>(VoiceTracker::kBlockSeconds * kSampleRate / kModelFrame);

// Anything shorter is a click.
constexpr VoiceRules kSure{.onset = 0.5f, .offset = 0.5f, .min_silence = 0.1, .min_speech = 0.06, .padding = 0};
constexpr VoiceRules kNear{.onset = 0.1f, .offset = 0.05f, .min_silence = 0.1, .min_speech = 0.03, .padding = 1.5};

}  // namespace

VoiceTracker::VoiceTracker(const VoiceActivityModel& model)
    : model_(model), sure_(kSure, kModelFrame), near_(kNear, kModelFrame) {}

void VoiceTracker::push(std::span<const float> samples) {
  signal_.push(samples);
  samples_ += static_cast<std::int64_t>(samples.size());
  for (const float sample : samples) waiting_.push_back(std::clamp(sample, -1.0f, 1.0f));
  if (waiting_.size() < kBlockFrames * kModelFrame) return;
  analyse(kBlockFrames);
  label();
}

void VoiceTracker::finish() {
  const std::size_t frames = (waiting_.size() + kModelFrame - 1) / kModelFrame;
  waiting_.resize(frames * kModelFrame, 0.0f);
  analyse(frames);
  stream_.reset();
  signal_.finish();
  sure_.finish(samples_);
  near_.finish(samples_);
  label();
}

// Analyses so many of the waiting frames.
void VoiceTracker::analyse(std::size_t frames) {
  if (frames == 0) return;
  if (!stream_) stream_ = model_.open();
  const std::size_t count = frames * kModelFrame;
  std::vector<float> probabilities(frames);
  stream_->probabilities(std::span(waiting_).first(count), probabilities);
  sure_.push(probabilities);
  near_.push(probabilities);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

void VoiceTracker::label() {
  const std::int64_t decided = std::min(sure_.decided(), near_.decided());
  for (std::int64_t at = frames_.end(); at < signal_.labelled(); ++at) {
    const std::int64_t begin = at * kFrameSamples;
    const std::int64_t end = std::min(begin + kFrameSamples, samples_);
    if (end > decided) return;
    const Frame& frame = signal_.at(at);
    const bool silent = frame.level < kDigitalSilence;
    const bool sure = sure_.has_speech(begin, end) && !silent;
    const bool near = near_.has_speech(begin, end);
    frames_.push({.level = frame.level,
                  .low = !sure && (!near || frame.low),
                  .nothing = !sure && (!near || !signal_.stands_out(at))});
  }
}

void VoiceTracker::discard_before(std::int64_t frame) {
  frames_.discard_before(frame);
  signal_.discard_before(frames_.end());
}

}  // namespace verbatim
