#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/model_info.h"

// A family of speech models of which a slot decodes one window after the other, each by itself.
namespace verbatim {

// A window in flight. Made once, reused for every window, and no trace of a window in the next one. One call
// at a time; different slots of a model run in parallel, on any threads.
class WindowSlot {
 public:
  virtual ~WindowSlot() = default;
  // Decodes one window of at most longest_window_seconds(); one of less than 0.11 s gives no segments.
  // Samples out of range are clipped, not-a-numbers silenced. `abort` may be null. Throws EngineError:
  // kAborted (the slot stays usable), kUnsupportedLanguage, kInvalidArgument naming the option, kOutOfMemory,
  // kInternalError.
  virtual WindowResult transcribe(const Window& window, const DecodeOptions& options,
                                  const AbortFlag* abort) = 0;
  // Bytes held by it, about; for the garbage collector's account of external memory.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// A loaded model: weights loaded once, shared by its slots. Immutable, safe to use from many threads.
class SlotModel {
 public:
  virtual ~SlotModel() = default;
  // memory_bytes: as loaded; see memory_bytes().
  virtual const SpeechModelInfo& info() const noexcept = 0;
  // The longest window it takes, seconds.
  virtual double longest_window_seconds() const noexcept = 0;
  // With what was loaded since.
  virtual std::size_t memory_bytes() const noexcept = 0;
  // threads: CPU threads of the slot, 1 to 256. One is best where there are as many slots as cores; more let
  // a single window finish sooner. The slot keeps the model. Throws EngineError kOutOfMemory,
  // kInvalidArgument.
  virtual std::unique_ptr<WindowSlot> make_slot(int threads) const = 0;
};

}  // namespace verbatim
