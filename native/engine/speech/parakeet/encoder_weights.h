#pragma once

#include <cstddef>
#include <vector>

#include "speech/parakeet/model_reader.h"
#include "transformer/cpu/encoder_layers.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/cpu/weight_memory.h"

namespace verbatim::parakeet {

struct ConvolutionWeights {
  // The values to be gated, then the gate.
  transformer::BalancedLinears in;
  transformer::PackedLinear out;
  // [kernel, state], [state]: a depthwise convolution, with the batch normalization folded in.
  std::vector<float> kernel;
  std::vector<float> bias;
};

struct LayerWeights {
  // The second product of each feed-forward block is halved: a Conformer adds half of the block's result.
  transformer::FeedForwardLayer first;
  transformer::AttentionLayer attention;
  transformer::RelativePositions positions;
  ConvolutionWeights convolution;
  transformer::FeedForwardLayer second;
  transformer::LayerNorm norm;
};

// 3 x 3 convolutions with a stride of two in time and frequency. The second and the third are depthwise, each with a
// product over the channels behind it.
struct SubsamplingWeights {
  // [channels, 9], in float32.
  transformer::PackedMatrix first;
  // [channels]
  std::vector<float> first_bias, second_bias, third_bias;
  // [9, channels]
  std::vector<float> second, third;
  transformer::PackedLinear second_mix, third_mix;
  // Input: the bands of a position, [bands / 8][channels].
  transformer::PackedLinear out;
};

// The weights of Parakeet's encoder, packed for the products of one format and in no other form. Immutable; shared by
// encoders.
class EncoderWeights {
 public:
  // Copies from the reader's file. Throws EngineError kOutOfMemory, kInternalError.
  EncoderWeights(const ModelReader& reader, const transformer::ProductFormat& format);

  SubsamplingWeights subsampling;
  std::vector<LayerWeights> layers;

  const transformer::ProductFormat& format() const noexcept { return format_; }
  std::size_t bytes() const noexcept;

 private:
  transformer::ProductFormat format_;
  transformer::WeightMemory memory_;
};

}  // namespace verbatim::parakeet
