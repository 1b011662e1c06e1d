#pragma once

#include <cstddef>

#include "audio/sample_rate.h"

namespace verbatim {

// Samples of a window. whisper.cpp decodes nothing of one with less than 11 mel frames.
inline constexpr std::size_t kShortestWindow = 1800;
inline constexpr std::size_t kLongestWindow = 30 * kSampleRate;

// A pass for every two seconds is more than any window of speech took; a loop would take one for 20 ms.
inline int most_encoder_passes(std::size_t samples) {
  return 4 + static_cast<int>(samples / (2 * static_cast<std::size_t>(kSampleRate)));
}

// The first distilled models know no time stamps, and whisper.cpp forces the token that says so on them.
// text_layers: of the decoder.
inline bool knows_time_stamps(int text_layers, int vocabulary) {
  constexpr int kDistilledLayers = 2;
  constexpr int kNewestVocabulary = 51866;
  return text_layers != kDistilledLayers || vocabulary == kNewestVocabulary;
}

}  // namespace verbatim
