#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "abort.h"
#include "accelerator/matrices.h"
#include "speech/parakeet/encoder_weights.h"
#include "speech/parakeet/mel.h"
#include "speech/parakeet/relative_attention.h"
#include "speech/parakeet/subsampling.h"

namespace verbatim::parakeet {

// Parakeet's encoder on the accelerator: whisper.cpp's parakeet_build_graph_encode, with products of operands. One call
// at a time.
class Encoder {
 public:
  // weights: must outlive this. store: not null. threads: 1 to 256.
  Encoder(const EncoderWeights& weights, const std::shared_ptr<accelerator::WeightStore>& store,
          const ModelShape& shape, int threads);

  // Returns float32 [positions_of(mel.frames)][state], valid until the next call. mel: at most the model's audio
  // context. An abort takes effect at the next quarter of a layer. Throws EngineError kAborted; std::bad_alloc, and
  // std::exception for errors of the accelerator.
  const std::vector<float>& encode(const MelSpectrogram& mel, const AbortFlag* abort);
  // Bytes held for the longest window so far.
  std::size_t memory_bytes() const noexcept;

 private:
  void layer(const LayerWeights& weights, const AbortFlag* abort);
  void feed_forward(const FeedForwardWeights& weights);
  void attention(const AttentionWeights& weights);
  void convolution(const ConvolutionWeights& weights);
  // Writes x_, normalized, to operands_.
  void normalize(const NormWeights& weights);

  const EncoderWeights& weights_;
  const std::shared_ptr<accelerator::WeightStore> store_;
  const std::int64_t state_;
  const std::int64_t kernel_;
  const int threads_;
  const std::size_t operand_;
  accelerator::Multiplier multiplier_;
  Subsampling subsampling_;
  RelativeAttention attention_;
  std::int64_t positions_ = 0;
  // [positions][state]; one row for each thread; [positions][up to 3 * state]; the convolution's input with its
  // padding.
  std::vector<float> x_, rows_, wide_, gated_;
  // [positions][state], [positions][4 * state]
  std::vector<std::byte> operands_, inner_;
};

}  // namespace verbatim::parakeet
