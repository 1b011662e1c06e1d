#pragma once

#include <soxr.h>

#include <cstdint>
#include <memory>
#include <span>

namespace verbatim {

// Resamples mono from any rate to kSampleRate, with libsoxr. The delay is compensated: n input samples give
// round(n * kSampleRate / rate).
class Resampler {
 public:
  enum class Quality {
    // libsoxr's high quality (20-bit, linear phase). It holds back up to 40 ms of audio, below 16 kHz up to 115 ms.
    kHigh,
    // Cubic interpolation, which aliases a little. It holds back less than a millisecond.
    kQuick,
  };

  // rate: Hz. Throws EngineError kOutOfMemory.
  explicit Resampler(int rate, Quality quality = Quality::kHigh);

  int rate() const noexcept { return rate_; }

  struct Progress {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  // Consumes as much as fits. `last`: nothing follows `in`; call until nothing more is produced.
  Progress process(std::span<const float> in, bool last, std::span<float> out);

 private:
  struct Delete {
    void operator()(soxr_t handle) const { soxr_delete(handle); }
  };
  int rate_;
  std::unique_ptr<std::remove_pointer_t<soxr_t>, Delete> handle_;
};

}  // namespace verbatim
