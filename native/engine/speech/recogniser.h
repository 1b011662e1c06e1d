#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/model_info.h"
#include "transformer/decoder.h"

// A family of speech models that decodes many windows at once. A window in flight goes through units of work,
// each bounded, so that whoever schedules them decides after each what comes next:
//
//   open() -> WindowEncoder::advance() until its stage is kDecode -> DecoderBatch::add() -> advance(), which
//   returns the window when it is done, or when it is to be encoded once more from further on -> result()
namespace verbatim {

enum class WindowStage {
  // An encoder is to work on it.
  kEncode,
  // A batch is to have it.
  kDecode,
  // result() may be taken.
  kDone,
};

// One window of one request. Used by one encoder or one batch at a time.
class WindowInFlight {
 public:
  virtual ~WindowInFlight() = default;
  virtual WindowStage stage() const noexcept = 0;
  // Once, when kDone. Throws EngineError what decoding ended with.
  virtual WindowResult result() = 0;
  // From any thread, at any time: no encoder works on it beyond the unit under way, a batch drops its rows
  // before its next step, and result() throws kAborted.
  virtual void abort() noexcept = 0;
  // Bytes that are held for this window alone.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// Features and encoder for one window after the other: buffers and threads of its own, nothing of a window
// outlives its last unit. One call at a time. Windows may take turns in it between units, and a window may go
// on in another encoder of the same model: what it has so far is its own.
class WindowEncoder {
 public:
  virtual ~WindowEncoder() = default;
  // One unit of work on a window whose stage is kEncode: about 60 ms on Whisper base and one thread at most.
  // What goes wrong ends the window, and so does its abort: it is kDone then. Throws EngineError
  // kInvalidArgument for a window of another kind or stage.
  virtual void advance(WindowInFlight& window) = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// What one call of DecoderBatch::advance() did.
struct BatchAdvance {
  // Windows that left the batch: kDone, or kEncode once more.
  std::vector<std::shared_ptr<WindowInFlight>> left;
  int steps = 0;
  // Rows of all steps together: tokens decoded, prompts included.
  int rows = 0;
};

// The windows that are decoded together, a token of each a step.
class DecoderBatch {
 public:
  virtual ~DecoderBatch() = default;
  // The window is in the batch from the next step on. Any thread, also while advance() runs.
  virtual void add(std::shared_ptr<WindowInFlight> window) = 0;
  // Runs at most so many steps (1 or more) on so many threads (1 to 256); returns early when a window leaves
  // or none is left. One call at a time. What goes wrong with one window ends that window; if a step itself
  // fails, every window of it has ended so and leaves. Throws EngineError kInvalidArgument.
  virtual BatchAdvance advance(int steps, int threads) = 0;
  // Windows in it.
  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

using HeadSet = std::vector<transformer::AttentionHead>;

// The heads of a model's decoder.
struct DecoderHeads {
  int layers = 0;
  // Of a layer.
  int heads = 0;
  // Those that words are aligned by.
  HeadSet alignment;
};

// What is known to be said in a window.
struct KnownText {
  std::string text;
  // A code that the model knows.
  std::string language = "en";
  bool own_length = false;
};

// When the words of a known text were said, as each of some sets of heads shows it.
struct TextAlignment {
  struct Times {
    // Seconds from the start of the window, [words].
    std::vector<double> starts;
    std::vector<double> ends;
  };
  // Joined, they are the text as far as the model can write it.
  std::vector<std::string> words;
  // [sets]
  std::vector<Times> times;
};

// A loaded model. Immutable, safe to use from many threads; what it makes must not outlive it.
class Recogniser {
 public:
  virtual ~Recogniser() = default;
  virtual const SpeechModelInfo& info() const noexcept = 0;
  // The longest window it takes, seconds.
  virtual double longest_window_seconds() const noexcept = 0;
  // A window in flight; its samples are not copied. Samples out of range are clipped, not-a-numbers silenced.
  // Throws EngineError kInvalidArgument naming the option, kUnsupportedLanguage.
  virtual std::shared_ptr<WindowInFlight> open(std::shared_ptr<const Window> window,
                                               const DecodeOptions& options) const = 0;
  // threads: 1 to 256. Throw EngineError kOutOfMemory, kInvalidArgument.
  virtual std::unique_ptr<WindowEncoder> make_encoder(int threads) const = 0;
  virtual std::unique_ptr<DecoderBatch> make_batch() const = 0;

  virtual DecoderHeads decoder_heads() const = 0;
  // For choosing heads: aligns a text that is known, by each of these sets of heads (one or more sets, none
  // of them empty) by itself. Times are as the attention has them: neither moved to speech nor cut at
  // sentences. One encoder pass, on the calling thread and `threads` - 1 others. `abort` may be null. Throws
  // EngineError kInvalidArgument naming what is wrong, kUnsupportedLanguage, kAborted, kOutOfMemory.
  virtual TextAlignment align_text(const Window& window, const KnownText& text, std::span<const HeadSet> sets,
                                   int threads, const AbortFlag* abort) const = 0;
};

}  // namespace verbatim
