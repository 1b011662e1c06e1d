#pragma once

#include <cstddef>
#include <vector>

struct ggml_tensor;

namespace verbatim::transformer {

// Shape of a GPU graph: padded, so that every operation is a dense one.
struct GpuShape {
  // Sentences in the graph and decoder rows of each.
  std::size_t sentences = 0;
  std::size_t beams = 1;
  // Source positions, padding included.
  std::size_t source = 0;
  // Decoder positions, padding included.
  std::size_t steps = 0;

  std::size_t rows() const { return sentences * beams; }
  bool operator==(const GpuShape&) const = default;
};

// Tensors that GPU graphs share: inputs filled before each run, and what outlives a graph.
struct GpuBatch {
  // Encoder: 0 or -infinity [source, source, 1, sentences]; decoder: [source, beams, 1, sentences].
  ggml_tensor* source_mask = nullptr;
  // Decoder: 0 or -infinity [steps].
  ggml_tensor* step_mask = nullptr;
  // Cache rows that the step writes [rows], and that each row reads [steps * rows].
  ggml_tensor* write_rows = nullptr;
  ggml_tensor* read_rows = nullptr;
  // Rows of the relative position tables: encoder [source * source], decoder [steps]; null without them.
  ggml_tensor* distances = nullptr;
  // Decoder: the alignment layer's probabilities [source, beams, heads, sentences].
  ggml_tensor* alignment = nullptr;

  // Per decoder layer: self-attention keys and values [2 * width, cache rows]; cross-attention keys
  // [head_size, source, heads, sentences] and transposed values [source, head_size, heads, sentences].
  std::vector<ggml_tensor*> cache;
  std::vector<ggml_tensor*> cross_keys;
  std::vector<ggml_tensor*> cross_values;
};

}  // namespace verbatim::transformer
