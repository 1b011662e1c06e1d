#pragma once

#include <cmath>
#include <span>

namespace verbatim {

// dBFS. Dither of 16 bits is at -98; lossy codecs turn zeros into less than that.
constexpr float kDigitalSilence = -100;

inline float decibels(double power) { return static_cast<float>(10 * std::log10(power + 1e-12)); }

// The mean square of a signal at 16 kHz, without hum and offset.
class LevelMeter {
 public:
  // `samples` follow those of the last call.
  float power(std::span<const float> samples) {
    // First-order high-pass at 76 Hz.
    constexpr float kPole = 0.97f;
    double sum = 0;
    for (const float sample : samples) {
      last_out_ = sample - last_in_ + kPole * last_out_;
      last_in_ = sample;
      sum += static_cast<double>(last_out_) * last_out_;
    }
    return samples.empty() ? 0.0f : static_cast<float>(sum / static_cast<double>(samples.size()));
  }

 private:
  float last_in_ = 0;
  float last_out_ = 0;
};

}  // namespace verbatim
