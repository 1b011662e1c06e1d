#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/whisper/alignment/text_aligner.h"
#include "speech/whisper/decoding/loaded_model.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {

// The word times of a slot's window. whisper.cpp's own alignment (dtw_token_timestamps) gives tokens instead of words,
// is off with flash attention, and ends the process for short windows. Therefore this engine's encoder and decoder read
// the text once more, on the slot's device. They are made on first use. One call at a time.
class SlotWords {
 public:
  // model: must outlive this. threads: 1 to 256.
  SlotWords(const SpeechModel& model, int threads) : model_(model), threads_(threads) {}

  // Sets the words of result.segments, and the segments' times from them. Its time counts as decoding. The window has
  // at least one sample. `abort` may be null. Throws EngineError kAborted, kInvalidModel, kIoError, kOutOfMemory.
  void add(const Window& window, const DecodeOptions& options, WindowResult& result, const AbortFlag* abort);
  std::size_t memory_bytes() const noexcept { return aligner_ ? aligner_->memory_bytes() : 0; }

 private:
  void align(const Window& window, const DecodeOptions& options, WindowResult& result, const AbortFlag* abort);

  const SpeechModel& model_;
  int threads_;
  std::unique_ptr<whisper::TextAligner> aligner_;
};

}  // namespace verbatim
