#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "abort.h"
#include "transformer/logits_callback.h"
#include "transformer/token_id.h"

// The decoder of a transformer, one step at a time. Each row of a step has its own place in its own text and its own
// source. So rows of different requests share a step, and the weights are read once for all of them. A row's result
// does not depend on the other rows: on a processor to the last bit, on a device up to rounding, because devices
// multiply matrices of other sizes in another order.
namespace verbatim::transformer {

// The keys and values of one encoded source, for every layer; cross-attention reads them. Belongs to the decoder that
// made it.
class CrossCache {
 public:
  virtual ~CrossCache() = default;
  virtual std::size_t positions() const noexcept = 0;
  // rows: float32 [count, 2 * width], the keys before the values, for positions [first, first + count) of a layer.
  // Every position of every layer must be written once before a step reads it. Several threads may write different
  // positions at the same time.
  virtual void write(std::size_t layer, std::size_t first, std::span<const float> rows) = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// The self-attention keys and values of one text so far; steps append to it. Belongs to the decoder that made it; used
// by one step at a time.
class History {
 public:
  virtual ~History() = default;
  // Number of appended tokens.
  virtual std::size_t length() const noexcept = 0;
  // A copy for another text with the same beginning; shares the memory.
  virtual std::unique_ptr<History> fork() const = 0;
  // Bytes that no other history shares.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// One token of one text. Its position is history->length(). Tokens of the same history are consecutive, in the order of
// the text, and each attends to those before it (a prompt, or a known text).
struct DecoderInput {
  TokenId token = 0;
  History* history = nullptr;
  const CrossCache* source = nullptr;
  // Whether to report this row's logits; only such rows are projected to the vocabulary.
  bool wants_logits = true;
  // Whether to report this row's cross-attention, if the step has a record.
  bool wants_attention = true;
};

struct AttentionHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  bool operator==(const AttentionHead&) const = default;
};

// Receives the cross-attention weights of one head of a row that wants them, float32 [positions of its source], after
// the softmax. `head` is an index into AttentionRecord::heads. Called once for each row and head, from several threads
// at a time. Must not throw.
using AttentionCallback = std::function<void(std::size_t row, std::size_t head, std::span<const float> weights)>;

// The cross-attention that a step reports.
struct AttentionRecord {
  std::span<const AttentionHead> heads;
  AttentionCallback on_weights;
};

// Runs one step at a time. Meanwhile any thread may make and write caches.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Throw EngineError kOutOfMemory.
  virtual std::unique_ptr<CrossCache> make_cross_cache(std::size_t positions) = 0;
  virtual std::unique_ptr<History> make_history() = 0;

  // Appends every row to its history and reports the wanted logits. threads: CPU threads of this step, 1 to 256.
  // `record` and `abort` may be null. Throws EngineError kAborted, kOutOfMemory; histories are then as long as before.
  virtual void step(std::span<const DecoderInput> rows, const LogitsCallback& on_logits, int threads,
                    const AttentionRecord* record, const AbortFlag* abort) = 0;

  // Bytes of buffers, without caches.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

}  // namespace verbatim::transformer
