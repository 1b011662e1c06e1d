#pragma once

#include <soxr.h>

#include <cstdint>
#include <memory>
#include <span>

namespace verbatim {

// Resamples mono from any rate to kSampleRate, with libsoxr at its high-quality setting (20-bit, linear phase). The
// delay is compensated: n input samples give round(n * kSampleRate / rate).
class Resampler {
 public:
  // rate: Hz. Throws EngineError kOutOfMemory.
  explicit Resampler(int rate);

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
