#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transformer/decoder.h"
#include "transformer/gpu/histories.h"
#include "transformer/gpu/sources.h"

// Splits a decoder's step into runs of dense graphs.
namespace verbatim::transformer {

// Shape of a decoder graph, with padding, so that graphs can be reused. Row t * tokens + i of a graph is token i of
// text t; query s * queries + j is row j of source s.
struct GpuDecoderShape {
  std::size_t texts = 0;
  // Tokens of each text.
  std::size_t tokens = 0;
  // Tokens that a row may attend to, its own included.
  std::size_t past = 0;
  std::size_t sources = 0;
  // Rows of each source.
  std::size_t queries = 0;
  // Positions of each source.
  std::size_t positions = 0;
  // Whether sources are fetched by their slots; otherwise they are the first slots.
  bool fetches_sources = false;
  // Rows that want logits.
  std::size_t wanted = 0;
  // Heads whose cross-attention is reported.
  std::vector<AttentionHead> recorded;

  std::size_t rows() const noexcept { return texts * tokens; }
  bool operator==(const GpuDecoderShape&) const = default;
};

// The tokens of one text in one run.
struct GpuTextRows {
  const GpuHistory* history = nullptr;
  // Position of the first.
  std::size_t first = 0;
  // Their row numbers in the step.
  std::vector<std::size_t> rows;
};

// One run of a graph.
struct GpuRun {
  std::vector<GpuTextRows> texts;
  GpuDecoderShape shape;
  // Slot of source s, and the graph's rows that read it.
  std::vector<std::size_t> slots;
  std::vector<std::vector<std::size_t>> readers;
  // The graph's rows that want logits, and their row numbers in the step.
  std::vector<std::size_t> wanted;
  std::vector<std::size_t> wanted_rows;
};

// Most rows of a graph. A power of two.
constexpr std::size_t kMostGpuRows = 256;

// The runs for the rows of a step, whose histories have been extended already; they must be computed in this order.
// `slots`, `positions`: size of the sources' tables.
std::vector<GpuRun> plan_runs(std::span<const DecoderInput> rows, std::size_t slots, std::size_t positions,
                              std::span<const AttentionHead> recorded);

// Most padding rows of each run in a step of `rows` rows.
std::size_t most_padding(std::size_t rows);

}  // namespace verbatim::transformer
