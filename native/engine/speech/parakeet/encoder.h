#pragma once

#include <cstddef>
#include <vector>

#include "abort.h"
#include "speech/parakeet/encoder_weights.h"
#include "speech/parakeet/mel.h"
#include "speech/parakeet/subsampling.h"
#include "transformer/cpu/encoder_layers.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::parakeet {

// Parakeet's encoder: whisper.cpp's parakeet_build_graph_encode, with products of the weights' format. A result does
// not depend on the number of threads. One call at a time.
class Encoder {
 public:
  // weights, kernels: must outlive this. threads: 1 to 256.
  Encoder(const EncoderWeights& weights, const ModelShape& shape, int threads,
          const transformer::Kernels& kernels = transformer::kernels());

  // Returns float32 [positions_of(mel.frames)][state], valid until the next call. mel: at most the model's audio
  // context. An abort takes effect at the next quarter of a layer. Throws EngineError kAborted; std::bad_alloc, and
  // std::exception for errors of the accelerator.
  const std::vector<float>& encode(const MelSpectrogram& mel, const AbortFlag* abort);
  // Bytes held for the longest window so far.
  std::size_t memory_bytes() const noexcept;

 private:
  using Lane = transformer::EncoderLayers::Lane;

  void layer(const LayerWeights& weights, const AbortFlag* abort);
  void convolution(const ConvolutionWeights& weights);

  const EncoderWeights& weights_;
  const transformer::Kernels& kernels_;
  const std::size_t state_;
  const std::size_t kernel_;
  transformer::EncoderLayers layers_;
  Subsampling subsampling_;
  std::size_t positions_ = 0;
  // [positions][state], and the convolution's input with its padding.
  std::vector<float> x_, gated_;
};

}  // namespace verbatim::parakeet
