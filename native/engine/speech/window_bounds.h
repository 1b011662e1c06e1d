#pragma once

#include <cstddef>

#include "audio/sample_rate.h"

namespace verbatim {

// Least number of samples of a window. whisper.cpp decodes nothing from less than 11 mel frames.
inline constexpr std::size_t kShortestWindow = 1800;
inline constexpr std::size_t kLongestWindow = 30 * kSampleRate;

// Most encoder passes of a window: one for every two seconds, which is more than any window of speech took. A looping
// model would take one for every 20 ms.
inline int most_encoder_passes(std::size_t samples) {
  return 4 + static_cast<int>(samples / (2 * static_cast<std::size_t>(kSampleRate)));
}

// The first distilled models have no time stamps, and whisper.cpp forces the no-time-stamps token on them. text_layers:
// layers of the decoder.
inline bool knows_time_stamps(int text_layers, int vocabulary) {
  constexpr int kDistilledLayers = 2;
  constexpr int kNewestVocabulary = 51866;
  return text_layers != kDistilledLayers || vocabulary == kNewestVocabulary;
}

}  // namespace verbatim
