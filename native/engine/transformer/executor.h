#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abort.h"
#include "transformer/logits_callback.h"
#include "transformer/token_id.h"

namespace verbatim::transformer {

struct ExecutorStart {
  // Source ids; each source is non-empty and within the model's positions.
  std::span<const std::vector<TokenId>> sources;
  // Most rows of a step.
  std::size_t max_rows = 0;
  // Report the alignment layer's cross-attention.
  bool with_attention = false;
};

// One row of a step: the last token of a hypothesis.
struct DecoderRow {
  TokenId token = 0;
  // Index into ExecutorStart::sources.
  std::size_t sentence = 0;
  // Row of the previous step that this one continues; ignored in the first step.
  std::size_t origin = 0;
};

struct StepOutput {
  // [rows, attention_stride]: each row's alignment over its source positions; null unless requested.
  const float* attention = nullptr;
  std::size_t attention_stride = 0;
};

// Runs an encoder-decoder transformer: the encoder once per batch, then the decoder one token at a time. The search,
// not the executor, knows which rows form a beam. One call at a time.
class Executor {
 public:
  virtual ~Executor() = default;

  // Encodes a batch and resets the decoder. Throws EngineError kAborted, kOutOfMemory.
  virtual void start(const ExecutorStart& batch, const AbortFlag* abort) = 0;

  // Milliseconds spent in start() since the last reset.
  double encode_ms() const noexcept { return encode_ms_; }
  void reset_timings() noexcept { encode_ms_ = 0.0; }
  // Bytes of buffers.
  virtual std::size_t memory_bytes() const noexcept = 0;

  // Runs one decoder step. The rows of a sentence are consecutive, sentences are in ascending order and have the same
  // number of rows each. A sentence that is left out must not return. Throws EngineError kAborted, kOutOfMemory.
  virtual StepOutput step(std::span<const DecoderRow> rows, const LogitsCallback& on_logits,
                          const AbortFlag* abort) = 0;

 protected:
  double encode_ms_ = 0.0;
};

}  // namespace verbatim::transformer
