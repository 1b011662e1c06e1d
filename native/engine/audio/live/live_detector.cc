#include "audio/live/live_detector.h"

#include <algorithm>
#include <cmath>

namespace verbatim {
namespace {

// The model runs for this many more chunks at the noise floor.
constexpr std::size_t kCalmChunks = 10;
// A chunk this far above the floor is no background, dB.
constexpr float kNearFloor = 3;
// Where the scale of a probability by level begins above the floor, and its length, dB.
constexpr float kLeastRise = 3;
constexpr float kRiseScale = 12;
// The floor is taken to be in this range, dBFS: a quieter background does not make faint noises speech, and before
// the floor is known speech is not the background.
constexpr float kLowestFloor = -70;
constexpr float kFirstFloor = -50;

}  // namespace

LiveDetector::LiveDetector(const VoiceActivityModel* model) : voice_(model != nullptr ? model->open() : nullptr) {}

std::size_t LiveDetector::next(std::span<const float> chunk, bool active) {
  const float power = meter_.power(chunk);
  level_ = decibels(power);
  floor_.push(power);
  if (!voice_) return 1;
  const bool silent = level_ <= kDigitalSilence;
  const bool calm = silent || (floor_.settled() && level_ < floor_.level() + kNearFloor);
  calm_ = calm ? calm_ + 1 : 0;
  if (!active && calm_ > kCalmChunks) {
    ++skipped_;
    return 0;
  }
  const std::size_t back = std::min(skipped_, kLookBackChunks);
  skipped_ = 0;
  return back + 1;
}

float LiveDetector::judge(std::span<const float> chunk, bool current) {
  if (!voice_) return above_floor();
  std::array<float, kChunkSamples> frame{};
  std::transform(chunk.begin(), chunk.end(), frame.begin(), [](float x) { return std::clamp(x, -1.0f, 1.0f); });
  float probability = 0;
  voice_->probabilities(frame, {&probability, 1});
  // A model's probability stays high for a while after a voice has ended.
  if (current && level_ <= kDigitalSilence) return 0;
  // What the model cannot judge is not lost.
  return std::isfinite(probability) ? probability : 1.0f;
}

float LiveDetector::above_floor() const noexcept {
  const float floor = floor_.settled() ? floor_.level() : std::min(floor_.level(), kFirstFloor);
  const float rise = level_ - std::max(floor, kLowestFloor);
  return std::clamp((rise - kLeastRise) / kRiseScale, 0.0f, 1.0f);
}

}  // namespace verbatim
