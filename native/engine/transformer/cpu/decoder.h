#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transformer/appended.h"
#include "transformer/cache_types.h"
#include "transformer/cpu/graph.h"
#include "transformer/cpu/weights.h"
#include "transformer/decoder.h"
#include "transformer/embedder.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// The decoder for processors: this engine's kernels in ggml graphs, on ggml's threads. Cross-attention is kept in
// float32, bfloat16 or int8, histories in float32 or bfloat16. `model` and `weights` must outlive the decoder. Throws
// EngineError kOutOfMemory; kInvalidArgument for an unsupported cache type.
std::unique_ptr<Decoder> make_cpu_decoder(const Transformer& model, const CpuWeights& weights, CacheTypes types,
                                          const Kernels& kernels);

class CpuDecoder final : public Decoder {
 public:
  // most_spare_bytes: most memory of ended texts that is kept for later ones.
  CpuDecoder(const Transformer& model, const CpuWeights& weights, CacheTypes types, const Kernels& kernels,
             std::size_t most_spare_bytes = 8u << 20);

  std::unique_ptr<CrossCache> make_cross_cache(std::size_t positions) override;
  std::unique_ptr<History> make_history() override;
  // Also throws EngineError kInvalidArgument for a token or a position that the model does not have. A step that is
  // aborted may already have called on_logits for some rows.
  void step(std::span<const DecoderInput> rows, const LogitsCallback& on_logits, int threads,
            const AttentionRecord* record, const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;
  // Bytes of all texts together.
  std::size_t history_bytes() const noexcept { return memory_->used_bytes(); }

  // Builds the graph for steps of so many rows with logits for all. Otherwise the graph grows with the steps.
  void reserve(std::size_t rows);

 private:
  // Most rows that are computed together; splitting a longer step into pieces of this size costs nothing.
  static constexpr std::size_t kMostRows = 256;

  std::vector<StepRow> place(std::span<const DecoderInput> rows, Appended<CpuHistory>& appended) const;
  void compute(std::span<const DecoderInput> rows, int threads, const AbortFlag* abort);
  void group_by_source();
  void embed(std::span<const DecoderInput> rows);
  void build(std::size_t rows, std::size_t wanted);

  const Transformer& model_;
  const CpuWeights& weights_;
  const Kernels& kernels_;
  CacheTypes types_;
  AttentionShape shape_;
  Embedder embedder_;
  std::shared_ptr<HistoryMemory> memory_;
  CpuThreads threads_;
  CpuGraph graph_;
  // Largest number of rows with logits so far.
  std::size_t most_wanted_ = 0;
  DecoderStep step_;
};

}  // namespace verbatim::transformer
