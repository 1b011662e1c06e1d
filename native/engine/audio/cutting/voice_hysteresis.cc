#include "audio/cutting/voice_hysteresis.h"

#include <algorithm>
#include <cmath>

#include "audio/sample_rate.h"

namespace verbatim {
namespace {

std::int64_t to_samples(double seconds) { return std::llround(seconds * kSampleRate); }

}  // namespace

VoiceHysteresis::VoiceHysteresis(const VoiceRules& rules, int frame_samples)
    : rules_(rules),
      frame_(frame_samples),
      min_silence_(to_samples(rules.min_silence)),
      min_speech_(to_samples(rules.min_speech)),
      padding_(to_samples(rules.padding)) {}

void VoiceHysteresis::push(std::span<const float> probabilities) {
  // A frame that the model cannot judge (a signal of absurd values) counts as speech, so that it is not lost.
  for (const float probability : probabilities) step(std::isfinite(probability) ? probability : 1.0f);
}

void VoiceHysteresis::step(float probability) {
  const bool quiet = probability < rules_.offset;
  if (probability >= rules_.onset) {
    quiet_since_.reset();
    if (!speech_since_) speech_since_ = position_;
  } else if (speech_since_ && quiet && !quiet_since_) {
    quiet_since_ = position_;
  }
  position_ += frame_;
  if (speech_since_) {
    const std::int64_t end = quiet_since_.value_or(position_);
    const bool long_enough = end - *speech_since_ >= min_speech_;
    if (long_enough) keep(*speech_since_, end);
    if (!quiet || position_ - end < min_silence_) {
      decided_ = std::max(decided_, long_enough ? std::min(position_, end + padding_) : *speech_since_ - padding_);
      return;
    }
    speech_since_.reset();
    quiet_since_.reset();
  }
  decided_ = std::max(decided_, position_ - padding_);
}

// Adds a region, or extends the last one.
void VoiceHysteresis::keep(std::int64_t begin, std::int64_t end) {
  const std::int64_t from = std::max<std::int64_t>(0, begin - padding_);
  if (regions_.empty() || regions_.back().end < from) regions_.push_back({from, from});
  regions_.back().end = std::max(regions_.back().end, end + padding_);
}

void VoiceHysteresis::finish(std::int64_t samples) {
  position_ = decided_ = samples;
  while (!regions_.empty() && regions_.back().begin >= samples) regions_.pop_back();
  if (!regions_.empty()) regions_.back().end = std::min(regions_.back().end, samples);
}

bool VoiceHysteresis::has_speech(std::int64_t begin, std::int64_t end) {
  while (!regions_.empty() && regions_.front().end <= begin && regions_.front().end <= decided_) {
    // The last region may still grow.
    if (regions_.size() == 1 && speech_since_) break;
    regions_.pop_front();
  }
  return !regions_.empty() && regions_.front().begin < end && regions_.front().end > begin;
}

}  // namespace verbatim
