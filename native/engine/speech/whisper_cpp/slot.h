#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {

// One whisper_state: a window in flight. Made once, reused for every window, and no trace of a window in the
// next one: the state is renewed (some milliseconds) before the next window wherever whisper.cpp would carry
// something over. One call at a time; different slots of a model run in parallel, on any threads.
//
// For the same options and a single window the text is that of whisper.cpp's own command line. One difference
// is meant: the no-speech probability is what Whisper means by it, in every window. whisper.cpp 1.9.1 reads
// it from memory that it has not written unless the language is detected, so its no-speech threshold never
// acts.
class Slot {
 public:
  // threads: CPU threads of this slot, 1 to 256. One is best where there are as many slots as cores; more let
  // a single window finish sooner. Throws EngineError kOutOfMemory, kInvalidArgument.
  Slot(std::shared_ptr<const SpeechModel> model, int threads);
  ~Slot();

  // Decodes one window of at most 30 seconds; one of less than 0.11 s holds nothing that Whisper hears and
  // gives no segments. Samples out of range are clipped, not-a-numbers silenced. `abort` may be null; it
  // takes effect within one encoder pass or one decoder step. Bounded work: at most one encoder pass per two
  // seconds plus four, at most 220 tokens per pass and temperature. Throws EngineError: kAborted (the slot
  // stays usable), kUnsupportedLanguage, kInvalidArgument, kOutOfMemory, kInternalError.
  WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort);

  // Bytes held by the state, about; for the garbage collector's account of external memory.
  std::size_t memory_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
