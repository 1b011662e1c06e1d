#pragma once

namespace verbatim {

// The one sample rate of the engine, Hz. Samples are mono float32, nominally in [-1, 1].
inline constexpr int kSampleRate = 16000;

}  // namespace verbatim
