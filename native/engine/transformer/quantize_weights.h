#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace verbatim::transformer {

// CTranslate2's rule for a row of int8 weights: scale = 127 / max|row| (a row of zeros: 1), stored value = nearest even
// of value * scale. Returns the scale. out.size() == row.size().
inline float quantize_weights(std::span<const float> row, std::span<std::int8_t> out) {
  float peak = 0.0f;
  for (const float value : row) peak = std::max(peak, std::abs(value));
  const float scale = peak > 0.0f ? 127.0f / peak : 1.0f;
  for (std::size_t i = 0; i < row.size(); ++i) out[i] = static_cast<std::int8_t>(std::nearbyint(row[i] * scale));
  return scale;
}

}  // namespace verbatim::transformer
