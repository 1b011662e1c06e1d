#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/window.h"
#include "speech/decode.h"
#include "speech/model.h"

namespace verbatim {

// One whisper_state: a window in flight. Made once, reused for every window, and no trace of a window in the
// next one. One call at a time; different slots of a model run in parallel.
class Slot {
 public:
  // threads: CPU threads of this slot, >= 1. Throws EngineError kOutOfMemory, kInvalidArgument.
  Slot(std::shared_ptr<const SpeechModel> model, int threads);
  ~Slot();

  // Decodes one window. Throws EngineError: kAborted (the slot stays usable), kUnsupportedLanguage,
  // kInvalidArgument, kInternalError. `abort` may be null.
  WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort);

  // Bytes held by the state, for the garbage collector's account of external memory.
  std::size_t memory_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
