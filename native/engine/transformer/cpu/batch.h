#pragma once

#include <cstddef>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/cpu/cross_cache.h"
#include "transformer/cpu/history.h"
#include "transformer/decoder.h"

// The current batch or step, as the nodes of a CPU graph read it.
namespace verbatim::transformer {

// Source tokens of all sentences, one sentence behind the other, without padding.
struct EncoderBatch {
  // Sentence i holds rows [offsets[i], offsets[i + 1]).
  std::vector<std::size_t> offsets;
  std::size_t rows = 0;

  std::size_t sentence_length(std::size_t sentence) const { return offsets[sentence + 1] - offsets[sentence]; }
};

// A token of a step. The last slot of history->data() that it attends to, at `position`, is its own.
struct StepRow {
  std::size_t position = 0;
  const CpuHistory* history = nullptr;
  const CpuCrossCache* source = nullptr;
  bool wants_attention = false;
};

struct DecoderStep {
  std::vector<StepRow> rows;
  std::size_t row_count = 0;
  // Type of self-attention's keys and values.
  ComputeType history_type = ComputeType::kFloat32;
  // Rows whose logits are wanted, ascending.
  std::vector<std::size_t> wanted;
  std::size_t wanted_count = 0;
  // Row numbers, grouped by source: group i is by_source[groups[i], groups[i + 1]).
  std::vector<std::size_t> by_source;
  std::vector<std::size_t> groups;

  // Receives the logits; rows are counted from `first_row`.
  const LogitsCallback* on_logits = nullptr;
  const AttentionRecord* record = nullptr;
  std::size_t first_row = 0;
};

}  // namespace verbatim::transformer
