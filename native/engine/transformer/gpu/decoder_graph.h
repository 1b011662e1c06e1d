#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transformer/embedder.h"
#include "transformer/gpu/decoder_ops.h"
#include "transformer/gpu/decoder_plan.h"
#include "transformer/gpu/inputs.h"

namespace verbatim::transformer {

// The objects that decoder graphs are built on; they must outlive the graphs.
struct GpuDecoderParts {
  const Transformer& model;
  const GpuWeights& weights;
  GpuDevice& device;
  GpuHistories& histories;
  GpuSources& sources;
};

// The decoder graph for one shape, with its own memory. The device must be locked for every call.
class GpuDecoderGraph {
 public:
  // Throws EngineError kOutOfMemory.
  GpuDecoderGraph(const GpuDecoderParts& parts, const GpuDecoderShape& shape);

  const GpuDecoderShape& shape() const noexcept { return shape_; }
  std::size_t memory_bytes() const noexcept {
    return ggml_gallocr_get_buffer_size(memory_.get(), 0) + input_memory_.memory_bytes();
  }
  // Throws EngineError kOutOfMemory, kInternalError.
  void run(const GpuRun& run, std::span<const DecoderInput> rows, const Embedder& embedder);
  // Logits of the rows that wanted them, [rows, vocabulary].
  void read_logits(std::vector<float>& out, std::size_t rows) const;
  // Reports the cross-attention of the heads in shape().recorded, for every row.
  void show(const GpuRun& run, std::span<const DecoderInput> rows, const AttentionCallback& on_weights) const;

 private:
  void declare_inputs();
  void declare_recorded();
  void set_tokens(const GpuRun& run, std::span<const DecoderInput> rows, const Embedder& embedder);
  void set_slots(const GpuRun& run);
  void set_past(const GpuRun& run);
  void set_sources(const GpuRun& run, std::span<const DecoderInput> rows);
  void set_recorded(std::span<const std::int32_t> row_queries);

  const GpuDecoderParts& parts_;
  GpuDecoderShape shape_;
  ggml_gallocr_ptr memory_;
  GpuGraph graph_;
  GpuInputs input_memory_;
  GpuDecoderInputs inputs_;
};

}  // namespace verbatim::transformer
