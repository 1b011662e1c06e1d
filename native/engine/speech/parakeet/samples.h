#pragma once

#include <algorithm>
#include <cmath>

namespace verbatim::parakeet {

// Far above full scale; keeps the power of a hostile float file finite.
inline constexpr float kLoudest = 32768.0f;

inline float sane(float sample) { return std::isnan(sample) ? 0.0f : std::clamp(sample, -kLoudest, kLoudest); }

}  // namespace verbatim::parakeet
