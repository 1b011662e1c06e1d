#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/whisper/model/model_reader.h"
#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/outlier_columns.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/cpu/weight_memory.h"

namespace verbatim::whisper {

struct CpuEncoderLayer {
  // Query, key and value stacked: [3d, d].
  transformer::BalancedLinears qkv;
  // A matrix for each head's part of the input, [d, d / heads], so that each part has a scale of its own; and the bias.
  std::vector<transformer::PackedMatrix> out;
  std::span<const float> out_bias;
  transformer::BalancedLinears up;
  // Without the columns that are multiplied apart.
  transformer::PackedLinear down;
  transformer::OutlierColumns down_outliers;
};

// The weights of Whisper's encoder and of the decoder layers' projections of its output, packed for this engine's
// kernels. Immutable; shared by encoders.
class CpuEncoderWeights {
 public:
  // Copies from the reader's file into this memory, of memory_bytes(), unless it holds the weights already. type: kInt8
  // or kFloat32. Throws EngineError kOutOfMemory.
  CpuEncoderWeights(const ModelReader& reader, transformer::ComputeType type, transformer::WeightMemory memory);
  static std::size_t memory_bytes(const ModelShape& shape, transformer::ComputeType type);

  transformer::ComputeType type() const noexcept { return type_; }
  const transformer::WeightMemory& memory() const noexcept { return memory_; }
  std::size_t bytes() const noexcept { return memory_.size(); }

  // Kernels of the convolutions: [d, 3 * inputs], the inputs of one frame behind those of the frame before.
  transformer::PackedLinear first_convolution;
  transformer::PackedLinear second_convolution;
  std::span<const float> positions;  // [1500, d]
  std::vector<CpuEncoderLayer> layers;
  // For each decoder layer, keys and values of cross-attention stacked: [2d, d].
  transformer::BalancedLinears cross;

 private:
  transformer::ComputeType type_;
  transformer::WeightMemory memory_;
};

}  // namespace verbatim::whisper
