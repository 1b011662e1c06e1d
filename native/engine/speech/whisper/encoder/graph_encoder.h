#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/encoder/encoder_graph.h"
#include "speech/whisper/model/encoder_weights.h"
#include "speech/whisper/model/model.h"
#include "transformer/gpu/device.h"

namespace verbatim::whisper {

// The encoder as ggml's graphs: on a device, or on ggml's own kernels.
class GraphEncoder final : public Encoder {
 public:
  // model: with encoder_weights(). threads: 1 to 256. Throws EngineError kInvalidArgument, kOutOfMemory.
  GraphEncoder(std::shared_ptr<const Model> model, int threads);
  ~GraphEncoder() override;

  void set_threads(int threads) override;
  std::size_t memory_bytes() const noexcept override;
  const transformer::GpuTraffic& traffic() const noexcept { return device_.traffic(); }

 private:
  class ActivationMemory;
  struct State;

  std::unique_ptr<EncoderState> begin(const EncoderRun& run) override;
  void compute(const EncoderRun& run, std::span<const EncoderStep> steps, EncoderState& state) override;
  void set_mel(const EncoderRun& run, ggml_tensor* target);
  void run_unit(const EncoderRun& run, const EncoderGraph& unit);
  void keep_cross(const EncoderRun& run, int layer, const ggml_tensor& rows);

  std::shared_ptr<const Model> model_;
  // All of a unit is computed on it.
  transformer::GpuDevice device_;
  ggml_gallocr_ptr memory_;
  std::shared_ptr<ActivationMemory> activations_;
  std::vector<std::byte> graph_memory_;
  std::vector<float> frames_, staging_;
};

}  // namespace verbatim::whisper
