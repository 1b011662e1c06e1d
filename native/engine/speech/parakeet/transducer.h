#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "abort.h"
#include "speech/parakeet/model_reader.h"
#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/linear_weight.h"
#include "transformer/cpu/row_multiplier.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::parakeet {

// The weights of Parakeet's prediction and joint network for the kernels. The projection of the encoder's output is
// packed as the encoder's weights are. Immutable; shared by transducers.
class TransducerWeights {
 public:
  // format: of the encoder; the kernels compute in its type. The embeddings stay in the reader's file, which must
  // outlive this. Throws EngineError kOutOfMemory, kInternalError.
  TransducerWeights(const ModelReader& reader, const transformer::ProductFormat& format);

  struct Layer {
    // [4 * state, 2 * state]: for the layer's input and its last output, side by side.
    transformer::LinearWeight gates;
    std::vector<float> bias;
  };

  std::int32_t pieces = 0;
  std::int32_t most_tokens = 0;
  std::vector<std::int32_t> durations;
  // [pieces + 1, state]
  StoredMatrix embeddings;
  std::vector<Layer> layers;
  transformer::LinearWeight prediction;
  std::vector<float> prediction_bias;
  // [pieces + 1 + durations, state]
  transformer::LinearWeight joint;
  std::vector<float> joint_bias;
  transformer::PackedLinear encoder;

  const transformer::ProductFormat& format() const noexcept { return format_; }
  std::size_t bytes() const noexcept { return memory_.size() + encoder.weight.own_bytes(); }

 private:
  transformer::ProductFormat format_;
  transformer::WeightMemory memory_;
};

struct DecodedToken {
  std::int32_t piece = 0;
  // Probability among the pieces and the blank.
  float probability = 0.0f;
  // Encoder position.
  std::int64_t position = 0;
  std::int32_t duration = 0;
};

// whisper.cpp's parakeet_decode: takes the likeliest piece at a position, then moves on by the likeliest duration. One
// call at a time; no window affects a later one.
class Transducer {
 public:
  // weights, kernels: must outlive this.
  explicit Transducer(const TransducerWeights& weights, const transformer::Kernels& kernels = transformer::kernels());

  // encoded: [positions][width of the encoder]. An abort takes effect before the next step. Throws EngineError
  // kAborted; std::bad_alloc, and std::exception for errors of the accelerator.
  std::vector<DecodedToken> decode(const std::vector<float>& encoded, const AbortFlag* abort);
  std::size_t memory_bytes() const noexcept;

 private:
  void project(const std::vector<float>& encoded);
  void predict(std::int32_t piece);
  void join(std::int64_t position);
  void advance(const TransducerWeights::Layer& layer, float* input, float* cell);
  void multiply(const transformer::LinearWeight& matrix, const float* x, const std::vector<float>& bias, float* y);

  const TransducerWeights& weights_;
  const transformer::Kernels& kernels_;
  // Of the encoder's output, and of the steps.
  const std::unique_ptr<transformer::RowMultiplier> projection_, steps_;
  const std::size_t state_;
  // [positions][state]
  std::vector<float> projected_;
  std::vector<std::byte> operands_;
  // Each layer's input and last output, [layers][2 * state]; each layer's cells, [layers][state].
  std::vector<float> inputs_, cells_;
  std::vector<float> gates_, exponentials_, predicted_, joined_, logits_;
};

}  // namespace verbatim::parakeet
