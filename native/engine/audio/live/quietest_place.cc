#include "audio/live/quietest_place.h"

#include <limits>
#include <vector>

#include "audio/cutting/level_meter.h"

namespace verbatim {
namespace {

constexpr std::size_t kFrame = 160;
constexpr std::size_t kFrames = 20;

}  // namespace

std::size_t quietest_place(std::span<const float> samples) {
  LevelMeter meter;
  std::vector<float> levels;
  for (std::size_t at = 0; at + kFrame <= samples.size(); at += kFrame) {
    levels.push_back(decibels(meter.power(samples.subspan(at, kFrame))));
  }
  std::size_t best = samples.size();
  float least = std::numeric_limits<float>::max();
  for (std::size_t at = 0; at + kFrames <= levels.size(); ++at) {
    float sum = 0;
    for (std::size_t i = at; i < at + kFrames; ++i) sum += levels[i];
    if (sum >= least) continue;
    least = sum;
    best = (at + kFrames / 2) * kFrame;
  }
  return best;
}

}  // namespace verbatim
