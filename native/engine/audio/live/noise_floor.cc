#include "audio/live/noise_floor.h"

#include <algorithm>

#include "audio/cutting/level_meter.h"

namespace verbatim {

void NoiseFloor::push(float power) {
  if (decibels(power) <= kDigitalSilence) {
    run_ = 0;
    return;
  }
  powers_[run_ % kMeanChunks] = power;
  ++run_;
  ++chunks_;
  const std::size_t count = std::min(run_, kMeanChunks);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += powers_[(run_ - 1 - i) % kMeanChunks];
  float& least = least_[block_ % kBlocks];
  least = std::min(least, decibels(sum / static_cast<double>(count)));
  level_ = *std::min_element(least_.begin(), least_.end());
  if (chunks_ % kBlockChunks == 0) least_[++block_ % kBlocks] = 0;
}

}  // namespace verbatim
