#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "accelerator/matrices.h"
#include "speech/parakeet/encoder_weights.h"
#include "speech/parakeet/mel.h"

namespace verbatim::parakeet {

// Encoder positions of so many frames.
constexpr std::int64_t positions_of(std::int64_t frames) { return (frames + 7) / 8; }

// Makes one encoder position of eight frames. Positions are computed in chunks, since the first convolution of a whole
// window would take a hundred MiB. One call at a time.
class Subsampling {
 public:
  // weights, store, multiplier: must outlive this.
  Subsampling(const SubsamplingWeights& weights, const accelerator::WeightStore& store,
              accelerator::Multiplier& multiplier, int threads);

  // Writes float32 [positions_of(mel.frames)][state]. Throws std::bad_alloc, and std::exception for errors of the
  // accelerator.
  void run(const MelSpectrogram& mel, float* out);
  std::size_t memory_bytes() const noexcept;

 private:
  // A plane [rows][bands][channels]; rows below 0 and from `end` on are zeros.
  struct Plane {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t end = 0;
    bool is_inside(std::int64_t row) const noexcept { return first + row >= 0 && first + row < end; }
  };

  void chunk(const MelSpectrogram& mel, std::int64_t first, std::int64_t count, float* out);
  void first_convolution(const MelSpectrogram& mel, const Plane& plane);
  // A depthwise convolution of `from`, which has twice the bands, to operands.
  void convolution(const float* from, const std::vector<float>& kernel, const std::vector<float>& bias,
                   const Plane& plane, std::int64_t bands);

  const SubsamplingWeights& weights_;
  const accelerator::WeightStore& store_;
  accelerator::Multiplier& multiplier_;
  const int threads_;
  const std::size_t channels_;
  std::vector<float> zeros_, taps_, rows_, first_, second_;
  std::vector<std::byte> operands_, features_;
};

}  // namespace verbatim::parakeet
