#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transformer/executor.h"

namespace verbatim::transformer {

// What the CPU attention needs to know of the batch in flight. Source tokens of all sentences lie one behind
// the other, without padding.
struct CpuBatch {
  // Sentence i holds encoder rows [offsets[i], offsets[i + 1]).
  std::vector<std::size_t> offsets;
  std::size_t encoder_rows = 0;
  // Per decoder layer: keys and values of the encoder rows [rows, 2 * width].
  std::vector<const float*> cross;

  // The decoder step, counted from 0, and its rows.
  std::size_t step = 0;
  std::size_t rows = 0;
  // Rows of the same sentence, which are neighbours.
  std::size_t rows_per_sentence = 1;
  // Sentence of each row.
  std::vector<std::size_t> sentences;
  // The cache only ever grows: block t holds the keys and values that step t wrote, [layer][row][2 * width].
  std::vector<std::vector<float>> blocks;
  std::vector<std::size_t> block_rows;
  // Reordering beams moves these indices and nothing else: ancestors[row][t] is the row of block t that
  // hypothesis `row` descends from.
  std::vector<std::vector<std::int32_t>> ancestors;

  // What the step does with its logits.
  const LogitsVisitor* visit = nullptr;

  // Alignment of the step [rows, attention_stride]; empty unless asked for.
  std::vector<float> attention;
  std::size_t attention_stride = 0;

  std::size_t sentence_length(std::size_t sentence) const {
    return offsets[sentence + 1] - offsets[sentence];
  }
};

}  // namespace verbatim::transformer
