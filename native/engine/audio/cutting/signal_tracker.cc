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
constexpr int kFloorFrames = 10;
// On either side.
constexpr int kSteadyFrames = 15;
static_assert(kSteadyFrames >= kFloorFrames);
constexpr float kForgottenPerBlock = 0.025f;

// Dither of 16 bits is at -98; what lossy codecs make of zeros is below that.
constexpr float kDigitalSilence = -100;
constexpr float kNearFloor = 6;
constexpr float kPauseDepth = 30;
constexpr float kNothingDepth = 20;
constexpr float kFaint = -45;
// Nearer to the floor over so many frames is noise that goes on, where there was something so much above it.
constexpr float kSteady = 2;
constexpr float kAboveSteady = 8;

}  // namespace

void SignalTracker::push(std::span<const float> samples) {
  powers_.push_back(meter_.power(samples));
  frames_.push_back({.level = decibels(powers_.back())});
  ++pushed_;
  if (pushed_ % kBlockFrames == 0) close_block();
}

void SignalTracker::finish() {
  if (pushed_ % kBlockFrames != 0) close_block();
  while (labelled_ < pushed_) label_block(static_cast<std::size_t>(labelled_ / kBlockFrames));
}

// Levels of the block that ends with the newest frame.
void SignalTracker::close_block() {
  const std::size_t count = static_cast<std::size_t>((pushed_ - 1) % kBlockFrames + 1);
  const std::size_t begin = frames_.size() - count;
  std::array<float, kBlockFrames> levels{};
  float floor = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t frame = begin + i;
    levels[i] = frames_[frame].level;
    const std::size_t from = frame + 1 - std::min<std::size_t>(frame + 1, kFloorFrames);
    double sum = 0;
    for (std::size_t k = from; k <= frame; ++k) sum += powers_[k];
    const float mean = decibels(sum / static_cast<double>(frame + 1 - from));
    if (mean > kDigitalSilence) floor = std::min(floor, mean);
  }
  const auto tenth = levels.begin() + static_cast<std::ptrdiff_t>(count / 10);
  std::nth_element(levels.begin(), tenth, levels.begin() + static_cast<std::ptrdiff_t>(count),
                   std::greater<>());
  lasting_speech_ = std::max(lasting_speech_ - kForgottenPerBlock, *tenth);
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
  const std::int64_t end = std::min(labelled_ + kBlockFrames, pushed_);
  for (; labelled_ < end; ++labelled_) {
    const auto at = static_cast<std::size_t>(labelled_ - first_);
    const float level = mean_level(at, 1);
    const bool near_floor = level < floor + kNearFloor;
    const bool silent = level < kDigitalSilence;
    const bool steady = lasting > floor + kAboveSteady && mean_level(at, kSteadyFrames) < floor + kSteady;
    frames_[at].low = silent || near_floor || steady || level < speech - kPauseDepth;
    frames_[at].nothing =
        silent || steady || (near_floor && (level < lasting - kNothingDepth || level < kFaint));
  }
  while (index > kBlocksBehind && first_block_ < static_cast<std::int64_t>(block) - kBlocksBehind) {
    blocks_.pop_front();
    ++first_block_;
  }
}

// Of a frame that is kept, with so many on either side as far as they are kept.
float SignalTracker::mean_level(std::size_t at, std::size_t around) const {
  const std::size_t from = at - std::min(at, around);
  const std::size_t to = std::min(at + around + 1, powers_.size());
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += powers_[i];
  return decibels(sum / static_cast<double>(to - from));
}

void SignalTracker::discard_before(std::int64_t frame) {
  // What is labelled next looks back a little, and so does the floor of the next block.
  const std::int64_t keep_from = std::min(frame, labelled_) - kSteadyFrames;
  for (; first_ < keep_from; ++first_) {
    frames_.pop_front();
    powers_.pop_front();
  }
}

}  // namespace verbatim
