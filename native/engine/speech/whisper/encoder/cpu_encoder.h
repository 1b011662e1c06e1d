#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/model/cpu_encoder_weights.h"
#include "speech/whisper/model/model.h"
#include "transformer/cpu/encoder_layers.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::whisper {

// The encoder on this engine's kernels, or with products on the accelerator. A result does not depend on the number of
// threads.
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

  std::unique_ptr<EncoderState> begin(const EncoderRun& run) override;
  void compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) override;
  void convolutions(const EncoderRun& run, std::vector<float>& x);
  void final_norm(std::vector<float>& x);
  void cross(std::size_t layer, const std::vector<float>& x, transformer::CrossCache& target);

  const std::shared_ptr<const Model> model_;
  const CpuEncoderWeights& weights_;
  const transformer::Kernels& kernels_;
  const std::size_t width_;
  // A norm's bias is folded into the layers behind it.
  const std::vector<float> zeros_;
  transformer::EncoderLayers layers_;
  // Frames of the window, [frames][bands], with the convolutions' padding.
  std::vector<float> frames_, bands_;
};

}  // namespace verbatim::whisper
