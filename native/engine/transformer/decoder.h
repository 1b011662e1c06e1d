#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "abort.h"
#include "transformer/logits_visitor.h"
#include "transformer/token_id.h"

// The decoder of a transformer, one step at a time, for rows that come and go: each row has its own place in
// its own text and its own source, so rows of different requests share a step, and the weights are read once
// for all of them. What a row computes does not depend on the rows beside it: on a processor to the last bit,
// on a device that multiplies matrices of other sizes in another order but for rounding.
namespace verbatim::transformer {

// The keys and values of one encoded source, for every layer: what cross-attention reads. Belongs to the
// decoder that made it.
class CrossCache {
 public:
  virtual ~CrossCache() = default;
  virtual std::size_t positions() const noexcept = 0;
  // rows: float32 [count, 2 * width], the keys before the values, of positions [first, first + count) of a
  // layer. Every position of every layer must be written once before a step reads it; several threads may
  // write different positions at a time.
  virtual void write(std::size_t layer, std::size_t first, std::span<const float> rows) = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// The self-attention keys and values of one text so far. Grows by what steps append. Belongs to the decoder
// that made it; used by one step at a time.
class History {
 public:
  virtual ~History() = default;
  // Tokens that were appended.
  virtual std::size_t length() const noexcept = 0;
  // Another text that begins the same: shares what is there.
  virtual std::unique_ptr<History> fork() const = 0;
  // Bytes that no other history shares.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// One token of one text. Its position is history->length(); tokens of the same history stand behind each
// other in the order of the text, and each sees those before it (a prompt, or a text that is known).
struct DecoderInput {
  TokenId token = 0;
  History* history = nullptr;
  const CrossCache* source = nullptr;
  // Whether the visitor is to see this row's logits: the vocabulary's projection is done for such rows only.
  bool wants_logits = true;
  // Whether a record of the step is to show this row's cross-attention.
  bool wants_attention = true;
};

struct AttentionHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  bool operator==(const AttentionHead&) const = default;
};

// Takes the cross-attention weights of one head of a row that wants it, float32 [positions of its source],
// softmax done. `head` is an index into AttentionRecord::heads. Called once for each, from several threads at
// a time. Must not throw.
using AttentionVisitor =
    std::function<void(std::size_t row, std::size_t head, std::span<const float> weights)>;

// What of cross-attention a step is to show.
struct AttentionRecord {
  std::span<const AttentionHead> heads;
  AttentionVisitor visit;
};

// One step at a time; caches may be made and written meanwhile, by any thread.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Throw EngineError kOutOfMemory.
  virtual std::unique_ptr<CrossCache> make_cross_cache(std::size_t positions) = 0;
  virtual std::unique_ptr<History> make_history() = 0;

  // Appends every row to its history and hands out the logits that are wanted. threads: CPU threads of this
  // step, 1 to 256. `record` and `abort` may be null. Throws EngineError kAborted (histories are then as long
  // as before), kOutOfMemory.
  virtual void step(std::span<const DecoderInput> rows, const LogitsVisitor& visit, int threads,
                    const AttentionRecord* record, const AbortFlag* abort) = 0;

  // Bytes of buffers held, caches not counted.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

}  // namespace verbatim::transformer
