#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transformer/executor.h"
#include "transformer/gpu/batch.h"
#include "transformer/gpu/graph.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The keys and values of a batch on a device, which outlive its graphs: cross-attention a sentence, and a
// cache of rows for self-attention. A decoder row does not own its past: it knows the cache rows of its
// ancestors, so that beams are reordered without a copy.
class GpuState {
 public:
  GpuState(const Transformer& model, ggml_backend_buffer_type_t memory) : model_(model), memory_(memory) {}

  // Fresh cross-attention for `sentences` of `source` positions, and a cache for `max_rows` rows a step. The
  // tensors are put into `batch`. Throws EngineError kOutOfMemory.
  void start(GpuBatch& batch, std::size_t sentences, std::size_t source, std::size_t max_rows,
             std::size_t steps);

  // Room for `steps` steps, keeping what is there; true when the cache moved, and graphs on it are void.
  // Throws EngineError kOutOfMemory.
  bool reserve(GpuBatch& batch, std::size_t steps);

  // Gives the rows of step `step` their cache rows.
  void follow(std::span<const DecoderRow> rows, std::size_t step);
  // Cache rows that the step writes, and that each row reads: [steps] a row, padded with any written one.
  std::vector<std::int32_t> write_rows() const;
  std::vector<std::int32_t> read_rows(std::size_t steps) const;

 private:
  void grow(GpuBatch& batch, std::size_t rows, bool keep);

  const Transformer& model_;
  ggml_backend_buffer_type_t memory_;
  GpuStorage cross_;
  GpuStorage cache_;
  std::size_t cache_rows_ = 0;
  std::size_t max_rows_ = 0;
  // Per row of the present step: the cache row of each step of its past, its own last.
  std::vector<std::vector<std::int32_t>> ancestors_;
};

// Adds to the graph: the sentences `kept` (an input of ascending indices) of a cross-attention tensor move to
// its front.
void move_sentences(const GpuGraph& graph, ggml_tensor* tensor, ggml_tensor* kept);

}  // namespace verbatim::transformer
