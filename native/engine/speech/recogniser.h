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

// A family of speech models that decodes many windows at once. A window is processed in bounded units of work, so that
// the scheduler decides after each unit what runs next:
//
//   open() -> WindowEncoder::advance() until its stage is kDecode -> DecoderBatch::add() -> advance(), which
//   returns the window when it is done, or when it needs another encoder pass -> result()
namespace verbatim {

enum class WindowStage {
  // Waits for an encoder.
  kEncode,
  // Waits for a batch.
  kDecode,
  // result() may be called.
  kDone,
};

// One window of one request. At most one encoder or batch uses it at a time.
class WindowInFlight {
 public:
  virtual ~WindowInFlight() = default;
  virtual WindowStage stage() const noexcept = 0;
  // Call once, when kDone. Throws the EngineError that decoding ended with.
  virtual WindowResult result() = 0;
  // May be called from any thread at any time. An encoder stops after the current unit, a batch drops the window's rows
  // before its next step, and result() throws kAborted.
  virtual void abort() noexcept = 0;
  // Bytes held for this window alone.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// Features and encoder, with its own buffers and threads. One call at a time. Windows may take turns between units, and
// a window may continue in another encoder of the same model: its state is its own.
class WindowEncoder {
 public:
  virtual ~WindowEncoder() = default;
  // Runs one unit of work on a window whose stage is kEncode: about 60 ms with Whisper base on one thread. An error or
  // an abort ends the window: its stage is kDone then. Throws EngineError kInvalidArgument for a window of another kind
  // or stage.
  virtual void advance(WindowInFlight& window) = 0;
  // Threads of the following units, 1 to 256. No result depends on them. Frees the working memory of threads beyond
  // them. Throws EngineError kInvalidArgument.
  virtual void set_threads(int threads) = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// The result of one call of DecoderBatch::advance().
struct BatchAdvance {
  // Windows that left the batch: kDone, or kEncode for another pass.
  std::vector<std::shared_ptr<WindowInFlight>> left;
  int steps = 0;
  // Rows of all steps together: decoded tokens and prompts.
  int rows = 0;
};

// Windows that are decoded together, one token each per step.
class DecoderBatch {
 public:
  virtual ~DecoderBatch() = default;
  // The window joins at the next step. May be called from any thread, also while advance() runs.
  virtual void add(std::shared_ptr<WindowInFlight> window) = 0;
  // Runs at most `steps` steps (1 or more) on `threads` threads (1 to 256). Returns early when a window leaves or none
  // is left. One call at a time. An error in one window ends that window. If a step itself fails, all its windows end
  // with that error and leave. Throws EngineError kInvalidArgument.
  virtual BatchAdvance advance(int steps, int threads) = 0;
  // Number of windows in the batch.
  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept = 0;
};

using HeadSet = std::vector<transformer::AttentionHead>;

// The attention heads of a model's decoder.
struct DecoderHeads {
  int layers = 0;
  // Heads of a layer.
  int heads = 0;
  // The heads that words are aligned by.
  HeadSet alignment;
};

// A known text of a window.
struct KnownText {
  std::string text;
  // A language code of the model.
  std::string language = "en";
  bool own_length = false;
};

// The times of a known text's words, as each of several sets of heads aligns them.
struct TextAlignment {
  struct Times {
    // Seconds from the start of the window, [words].
    std::vector<double> starts;
    std::vector<double> ends;
  };
  // Joined, they are the text as far as the model's tokens can spell it.
  std::vector<std::string> words;
  // [sets]
  std::vector<Times> times;
};

// A loaded model. Immutable, safe to use from many threads. Everything it makes must not outlive it.
class Recogniser {
 public:
  virtual ~Recogniser() = default;
  virtual const SpeechModelInfo& info() const noexcept = 0;
  // Longest window, seconds.
  virtual double longest_window_seconds() const noexcept = 0;
  // Opens a window; its samples are not copied. Samples out of range are clipped, NaNs become 0. Throws EngineError
  // kInvalidArgument with the option, kUnsupportedLanguage.
  virtual std::shared_ptr<WindowInFlight> open(std::shared_ptr<const Window> window,
                                               const DecodeOptions& options) const = 0;
  // threads: 1 to 256, until WindowEncoder::set_threads(). Throw EngineError kOutOfMemory, kInvalidArgument.
  virtual std::unique_ptr<WindowEncoder> make_encoder(int threads) const = 0;
  virtual std::unique_ptr<DecoderBatch> make_batch() const = 0;

  virtual DecoderHeads decoder_heads() const = 0;
  // For choosing alignment heads: aligns a known text by each set of heads on its own (one or more sets, none empty).
  // Times are those of the attention: not moved to speech and not cut at sentences. Runs one encoder pass, on the
  // calling thread and `threads` - 1 others. `abort` may be null. Throws EngineError kInvalidArgument with the cause,
  // kUnsupportedLanguage, kAborted, kOutOfMemory.
  virtual TextAlignment align_text(const Window& window, const KnownText& text, std::span<const HeadSet> sets,
                                   int threads, const AbortFlag* abort) const = 0;
};

}  // namespace verbatim
