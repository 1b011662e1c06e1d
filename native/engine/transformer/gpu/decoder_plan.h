#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transformer/decoder.h"
#include "transformer/gpu/histories.h"
#include "transformer/gpu/sources.h"

// How a decoder's step becomes runs of dense graphs.
namespace verbatim::transformer {

// Shape of a decoder graph, padding included, so that graphs can be used again. Row t * tokens + i of a graph
// is token i of text t; query s * queries + j is row j of source s.
struct GpuDecoderShape {
  std::size_t texts = 0;
  // Of each text.
  std::size_t tokens = 0;
  // Tokens that a row may look back at, its own included.
  std::size_t past = 0;
  std::size_t sources = 0;
  // Rows of each source.
  std::size_t queries = 0;
  // Of each source.
  std::size_t positions = 0;
  // Whether sources are fetched by their slots, or are the first slots of all.
  bool fetches_sources = false;
  // Rows that want logits.
  std::size_t wanted = 0;
  // Heads of cross-attention that are to be shown.
  std::vector<AttentionHead> recorded;

  std::size_t rows() const noexcept { return texts * tokens; }
  bool operator==(const GpuDecoderShape&) const = default;
};

// The tokens of one text that are computed in one run.
struct GpuTextRows {
  const GpuHistory* history = nullptr;
  // Position of the first.
  std::size_t first = 0;
  // Their numbers in the step.
  std::vector<std::size_t> rows;
};

// What one run computes.
struct GpuRun {
  std::vector<GpuTextRows> texts;
  GpuDecoderShape shape;
  // Slot of source s, and the graph's rows that read it.
  std::vector<std::size_t> slots;
  std::vector<std::vector<std::size_t>> readers;
  // The graph's rows that want logits, and their numbers in the step.
  std::vector<std::size_t> wanted;
  std::vector<std::size_t> wanted_rows;
};

// The most rows of a graph. A power of two.
constexpr std::size_t kMostGpuRows = 256;

// Runs for the rows of a step, whose histories have been lengthened already; they must be computed in this
// order. `slots` and `positions` are the tables' of the sources.
std::vector<GpuRun> plan_runs(std::span<const DecoderInput> rows, std::size_t slots, std::size_t positions,
                              std::span<const AttentionHead> recorded);

// Rows that pad the runs of so many at most, a run.
std::size_t most_padding(std::size_t rows);

}  // namespace verbatim::transformer
