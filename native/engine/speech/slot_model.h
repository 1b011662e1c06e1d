#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/model_info.h"

// A family of speech models whose slots each decode one window at a time.
namespace verbatim {

// Decodes windows. Made once and reused; no window affects a later one. One call at a time; different slots of a model
// run in parallel, on any threads.
class WindowSlot {
 public:
  virtual ~WindowSlot() = default;
  // Decodes one window of at most longest_window_seconds(). A window of less than 0.11 s gives no segments. Samples out
  // of range are clipped, NaNs become 0. `abort` may be null. Throws EngineError: kAborted (the slot stays usable),
  // kUnsupportedLanguage, kInvalidArgument with the option, kOutOfMemory, kInternalError.
  virtual WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) = 0;
  // Approximate bytes held, for the garbage collector's account of external memory.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// A loaded model: its slots share the weights. Immutable, safe to use from many threads.
class SlotModel {
 public:
  virtual ~SlotModel() = default;
  // info().memory_bytes is the size at load; see memory_bytes().
  virtual const SpeechModelInfo& info() const noexcept = 0;
  // Longest window, seconds.
  virtual double longest_window_seconds() const noexcept = 0;
  // Bytes held, with everything loaded since.
  virtual std::size_t memory_bytes() const noexcept = 0;
  // threads: CPU threads of the slot, 1 to 256. One is best with as many slots as cores; more make a single window
  // faster. The slot keeps the model alive. Throws EngineError kOutOfMemory, kInvalidArgument.
  virtual std::unique_ptr<WindowSlot> make_slot(int threads) const = 0;
};

}  // namespace verbatim
