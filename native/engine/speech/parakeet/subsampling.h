#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "speech/parakeet/encoder_weights.h"
#include "speech/parakeet/mel.h"
#include "transformer/cpu/encoder_layers.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::parakeet {

// Encoder positions of so many frames.
constexpr std::int64_t positions_of(std::int64_t frames) { return (frames + 7) / 8; }

// Makes one encoder position of eight frames. Convolutions are computed in chunks of positions, since the first one of
// a whole window would take a hundred MiB. One call at a time.
class Subsampling {
 public:
  // weights, kernels: must outlive this. layers: gives blocks of rows to its threads, and must outlive this.
  Subsampling(const SubsamplingWeights& weights, transformer::EncoderLayers& layers,
              const transformer::Kernels& kernels, int threads);

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

  // A depthwise convolution with the product over the channels behind it.
  struct Convolution {
    const std::vector<float>& kernel;
    const std::vector<float>& bias;
    const transformer::PackedLinear& mix;
  };

  // Writes the features of `count` positions, [bands / 8][channels].
  void chunk(const MelSpectrogram& mel, std::int64_t first, std::int64_t count, float* features);
  void first_convolution(const MelSpectrogram& mel, const Plane& plane);
  // `from` has twice the bands.
  void convolution(const Convolution& convolution, const float* from, std::size_t rows, std::size_t bands, float* out);

  const SubsamplingWeights& weights_;
  transformer::EncoderLayers& layers_;
  const transformer::Kernels& kernels_;
  const int threads_;
  const std::size_t channels_;
  std::vector<float> zeros_, taps_, first_, second_, features_;
};

}  // namespace verbatim::parakeet
