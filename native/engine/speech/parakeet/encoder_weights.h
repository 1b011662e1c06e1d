#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "accelerator/matrices.h"
#include "speech/parakeet/model_reader.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/cpu/weight_memory.h"

namespace verbatim::parakeet {

struct NormWeights {
  std::vector<float> gain;
  std::vector<float> bias;
};

struct FeedForwardWeights {
  NormWeights norm;
  accelerator::PackedWeight up;
  // Halved: a Conformer adds half of the block's result.
  accelerator::PackedWeight down;
};

// Projected relative positions of a layer, as operands: [heads][2 * positions - 1][state / heads], from positions - 1
// before to positions - 1 behind. They depend on the distance alone, so a shorter window uses the ones in the middle.
struct PositionTable {
  std::int64_t positions = 0;
  std::vector<std::byte> operands;
};

struct AttentionWeights {
  NormWeights norm;
  // Query, key and value stacked.
  accelerator::PackedWeight qkv;
  accelerator::PackedWeight out;
  // [state]: added to a query before the product with keys, and before the product with positions.
  std::vector<float> content_bias;
  std::vector<float> position_bias;
  PositionTable table;
};

struct ConvolutionWeights {
  NormWeights norm;
  // The values to be gated, then the gate.
  accelerator::PackedWeight in;
  accelerator::PackedWeight out;
  // [kernel, state], [state]: a depthwise convolution, with the batch normalization folded in.
  std::vector<float> kernel;
  std::vector<float> bias;
};

struct LayerWeights {
  FeedForwardWeights first;
  AttentionWeights attention;
  ConvolutionWeights convolution;
  FeedForwardWeights second;
  NormWeights norm;
};

// 3 x 3 convolutions with a stride of two in time and frequency. The second and the third are depthwise, each with a
// product over the channels behind it. Biases: [channels].
struct SubsamplingWeights {
  // [channels, 9]
  transformer::PackedMatrix first;
  std::vector<float> first_bias;
  // [9, channels]
  std::vector<float> second, third;
  std::vector<float> second_bias, third_bias;
  accelerator::PackedWeight second_mix, third_mix;
  std::vector<float> second_mix_bias, third_mix_bias;
  // Input: the bands of a position, [bands / 8][channels].
  accelerator::PackedWeight out;
  std::vector<float> out_bias;
};

// The weights of Parakeet's encoder, packed for the accelerator and in no other form. Immutable; shared by encoders.
class EncoderWeights {
 public:
  // Copies from the reader's file. store: not null. Throws EngineError kOutOfMemory, kInternalError.
  EncoderWeights(const ModelReader& reader, const std::shared_ptr<accelerator::WeightStore>& store);

  SubsamplingWeights subsampling;
  std::vector<LayerWeights> layers;

  std::size_t bytes() const noexcept;

 private:
  transformer::WeightMemory memory_;
};

}  // namespace verbatim::parakeet
