#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abort.h"
#include "transformer/logits_visitor.h"
#include "transformer/token_id.h"

namespace verbatim::transformer {

struct ExecutorStart {
  // Source ids, each non-empty and within the model's positions.
  std::span<const std::vector<TokenId>> sources;
  // The most rows that a step will have.
  std::size_t max_rows = 0;
  // Record the alignment layer's cross-attention.
  bool with_attention = false;
};

// One live hypothesis.
struct DecoderRow {
  TokenId token = 0;
  // Index into ExecutorStart::sources.
  std::size_t sentence = 0;
  // Row of the previous step that this one continues; ignored in the first step.
  std::size_t origin = 0;
};

struct StepOutput {
  // [rows, attention_stride]: the alignment over each row's source positions; null unless asked for.
  const float* attention = nullptr;
  std::size_t attention_stride = 0;
};

// Runs an encoder-decoder transformer: the encoder once per batch, then the decoder a token at a time. It
// knows nothing of beams; the search says which row continues which. One call at a time.
class Executor {
 public:
  virtual ~Executor() = default;

  // Encodes a batch and resets the decoder. Throws EngineError kAborted, kOutOfMemory.
  virtual void start(const ExecutorStart& batch, const AbortFlag* abort) = 0;

  // Milliseconds spent in start() since the last reset.
  double encode_ms() const noexcept { return encode_ms_; }
  void reset_timings() noexcept { encode_ms_ = 0.0; }
  // Bytes of buffers held.
  virtual std::size_t memory_bytes() const noexcept = 0;

  // One decoder step. The rows of a sentence are neighbours, sentences are in ascending order and have the
  // same number of rows each; sentences that are left out never return. Throws EngineError kAborted,
  // kOutOfMemory.
  virtual StepOutput step(std::span<const DecoderRow> rows, const LogitsVisitor& visit,
                          const AbortFlag* abort) = 0;

 protected:
  double encode_ms_ = 0.0;
};

}  // namespace verbatim::transformer
