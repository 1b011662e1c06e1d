#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/whisper/model/model_reader.h"
#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/encoder_layers.h"
#include "transformer/cpu/weight_memory.h"

namespace verbatim::whisper {

struct CpuEncoderLayer {
  transformer::AttentionLayer attention;
  transformer::FeedForwardLayer feed_forward;
};

// The weights of Whisper's encoder and of the decoder layers' projections of its output, packed for the products of one
// format. Immutable; shared by encoders.
class CpuEncoderWeights {
 public:
  // Copies from the reader's file into this memory, of memory_bytes(), unless it holds the weights already; the
  // accelerator's weights are outside of it. Throws EngineError kOutOfMemory, kInternalError.
  CpuEncoderWeights(const ModelReader& reader, const transformer::ProductFormat& format,
                    transformer::WeightMemory memory);
  static std::size_t memory_bytes(const ModelShape& shape, const transformer::ProductFormat& format);

  const transformer::ProductFormat& format() const noexcept { return format_; }
  const transformer::WeightMemory& memory() const noexcept { return memory_; }
  std::size_t bytes() const noexcept;

  // Kernels of the convolutions: [d, 3 * inputs], the inputs of one frame behind those of the frame before.
  transformer::PackedLinear first_convolution;
  transformer::PackedLinear second_convolution;
  std::span<const float> positions;  // [1500, d]
  std::vector<CpuEncoderLayer> layers;
  // For each decoder layer, keys and values of cross-attention stacked: [2d, d].
  transformer::BalancedLinears cross;

 private:
  transformer::ProductFormat format_;
  transformer::WeightMemory memory_;
};

}  // namespace verbatim::whisper
