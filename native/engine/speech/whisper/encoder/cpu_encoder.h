#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/model/cpu_encoder_weights.h"
#include "speech/whisper/model/model.h"
#include "transformer/cpu/self_attention.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::whisper {

// The encoder on this engine's own kernels. A thread takes a block of positions through all of a step, so that what the
// step computes between its products stays in the thread's cache. A result does not depend on the number of threads.
class CpuEncoder final : public Encoder {
 public:
  // model: with cpu_encoder_weights(). threads: 1 to 256. kernels: must outlive this. Throws EngineError
  // kInvalidArgument.
  CpuEncoder(std::shared_ptr<const Model> model, int threads,
             const transformer::Kernels& kernels = transformer::kernels());

  void set_threads(int threads) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  struct State;
  // Positions [first, first + count).
  struct Block {
    std::size_t first;
    std::size_t count;
  };
  // Working memory of one thread for a block.
  struct Lane {
    std::vector<float> norm, inner, outliers;
    std::vector<std::byte> operands, inner_operands;
  };

  std::unique_ptr<EncoderState> begin(const EncoderRun& run) override;
  void compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) override;
  void for_each_block(std::size_t positions, const std::function<void(Block, Lane&)>& task);
  void convolutions(const EncoderRun& run, std::vector<float>& x);
  void attention(const CpuEncoderLayer& layer, std::vector<float>& x);
  void add_product(const transformer::PackedMatrix& weight, const float* input, std::size_t count, const float* bias,
                   float* rows, Lane& lane) const;
  void feed_forward(const CpuEncoderLayer& layer, std::vector<float>& x);
  void final_norm(std::vector<float>& x);
  void cross(std::size_t layer, const std::vector<float>& x, transformer::CrossCache& target);
  const std::byte* normalized(const transformer::BalancedLinears& layer, const float* rows, std::size_t count,
                              Lane& lane) const;
  const std::byte* operands(const transformer::PackedMatrix& weight, const float* rows, std::size_t count,
                            std::size_t stride, std::vector<std::byte>& out) const;

  const std::shared_ptr<const Model> model_;
  const CpuEncoderWeights& weights_;
  const transformer::Kernels& kernels_;
  const std::size_t width_;
  // A norm's bias is folded into the layers behind it.
  const std::vector<float> zeros_;
  transformer::SelfAttention attention_;
  std::vector<Lane> lanes_;  // [threads]
  // Threads of the unit under way.
  int active_ = 1;
  // Frames of the window, [frames][bands], with the convolutions' padding.
  std::vector<float> frames_, bands_;
};

}  // namespace verbatim::whisper
