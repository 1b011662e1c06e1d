#pragma once

#include <cstddef>
#include <vector>

#include "speech/whisper/model/special_tokens.h"

namespace verbatim::whisper {

// One row of a step.
struct DecodingRow {
  TokenId token = 0;
  // Index into DecodingRequest::parents. The rows of one history are in the order of its text.
  std::size_t history = 0;
  bool wants_logits = false;
  bool wants_attention = false;
};

// What the decoder is to compute next.
struct DecodingRequest {
  static constexpr std::size_t kNewText = static_cast<std::size_t>(-1);
  // For each history of this step, the history of the previous step that it continues, or kNewText. Several may
  // continue one; histories that none continues are dropped.
  std::vector<std::size_t> parents;
  std::vector<DecodingRow> rows;
};

}  // namespace verbatim::whisper
