#include "audio/cutting/signal_tracker.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace verbatim {
namespace {

constexpr int kBlockFrames = 50;
constexpr std::int64_t kBlocksBehind = 12;
constexpr std::int64_t kSpeechBlocksBehind = 8;
constexpr std::int64_t kBlocksAhead = 4;
constexpr std::int64_t kFloorFrames = 10;
// Frames on either side.
constexpr std::int64_t kSteadyFrames = 15;
static_assert(kSteadyFrames >= kFloorFrames);
constexpr float kDecayPerBlock = 0.025f;

constexpr float kNearFloor = 6;
constexpr float kStandsOut = 4;
constexpr float kPauseDepth = 30;
constexpr float kNothingDepth = 20;
constexpr float kFaint = -45;
// Continuous noise: over this many frames hardly above the floor, while something nearby was this far above it.
constexpr float kSteady = 2.5;
constexpr float kAboveSteady = 8;

}  // namespace

void SignalTracker::push(std::span<const float> samples) {
  const float power = meter_.power(samples);
  frames_.push({.labels = {.level = decibels(power)}, .power = power});
  if (frames_.end() % kBlockFrames == 0) close_block();
}

void SignalTracker::finish() {
  if (frames_.end() % kBlockFrames != 0) close_block();
  while (labelled_ < frames_.end()) label_block(static_cast<std::size_t>(labelled_ / kBlockFrames));
}

// Computes the levels of the block that ends with the newest frame.
void SignalTracker::close_block() {
  const std::int64_t end = frames_.end();
  const std::int64_t begin = (end - 1) / kBlockFrames * kBlockFrames;
  std::array<float, kBlockFrames> levels{};
  float floor = 0;
  for (std::int64_t frame = begin; frame < end; ++frame) {
    levels[static_cast<std::size_t>(frame - begin)] = frames_[frame].labels.level;
    const std::int64_t from = std::max(frames_.first(), frame + 1 - kFloorFrames);
    double sum = 0;
    for (std::int64_t k = from; k <= frame; ++k) sum += frames_[k].power;
    const float mean = decibels(sum / static_cast<double>(frame + 1 - from));
    if (mean > kDigitalSilence) floor = std::min(floor, mean);
  }
  const auto count = end - begin;
  const auto tenth = levels.begin() + count / 10;
  std::nth_element(levels.begin(), tenth, levels.begin() + count, std::greater<>());
  lasting_speech_ = std::max(lasting_speech_ - kDecayPerBlock, *tenth);
  blocks_.push_back({floor, *tenth, lasting_speech_});
  const std::int64_t newest = first_block_ + static_cast<std::int64_t>(blocks_.size()) - 1;
  if (newest >= kBlocksAhead) label_block(static_cast<std::size_t>(newest - kBlocksAhead));
}

void SignalTracker::label_block(std::size_t block) {
  const auto index = static_cast<std::int64_t>(block) - first_block_;
  const auto last = std::min(index + kBlocksAhead, static_cast<std::int64_t>(blocks_.size()) - 1);
  float floor = 0;
  float speech = kDigitalSilence;
  for (std::int64_t i = std::max<std::int64_t>(0, index - kBlocksBehind); i <= last; ++i) {
    const Block& near = blocks_[static_cast<std::size_t>(i)];
    floor = std::min(floor, near.floor);
    if (i >= index - kSpeechBlocksBehind) speech = std::max(speech, near.loud);
  }
  const float lasting = blocks_[static_cast<std::size_t>(last)].lasting_speech;
  const std::int64_t end = std::min(labelled_ + kBlockFrames, frames_.end());
  for (; labelled_ < end; ++labelled_) {
    const float level = mean_level(labelled_, 1);
    const bool near_floor = level < floor + kNearFloor;
    const bool silent = level < kDigitalSilence;
    const bool steady = lasting > floor + kAboveSteady && mean_level(labelled_, kSteadyFrames) < floor + kSteady;
    Kept& frame = frames_[labelled_];
    frame.labels.low = silent || near_floor || steady || level < speech - kPauseDepth;
    frame.labels.nothing = silent || steady || (near_floor && (level < lasting - kNothingDepth || level < kFaint));
    frame.stands_out = !frame.labels.nothing && level >= floor + kStandsOut;
  }
  while (index > kBlocksBehind && first_block_ < static_cast<std::int64_t>(block) - kBlocksBehind) {
    blocks_.pop_front();
    ++first_block_;
  }
}

// Mean level of a kept frame and of up to `around` kept frames on either side.
float SignalTracker::mean_level(std::int64_t frame, std::int64_t around) const {
  const std::int64_t from = std::max(frames_.first(), frame - around);
  const std::int64_t to = std::min(frame + around + 1, frames_.end());
  double sum = 0;
  for (std::int64_t i = from; i < to; ++i) sum += frames_[i].power;
  return decibels(sum / static_cast<double>(to - from));
}

void SignalTracker::discard_before(std::int64_t frame) {
  // The next labels look back a little, and so does the floor of the next block.
  frames_.discard_before(std::min(frame, labelled_) - kSteadyFrames);
}

}  // namespace verbatim
