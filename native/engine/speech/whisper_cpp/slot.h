#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/slot_model.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {

// One whisper_state. It is renewed (some milliseconds) before the next window wherever whisper.cpp would
// carry something over.
//
// For the same options and a single window the text is that of whisper.cpp's own command line. One difference
// is meant: the no-speech probability is what Whisper means by it, in every window. whisper.cpp 1.9.1 reads
// it from memory that it has not written unless the language is detected, so its no-speech threshold never
// acts.
class Slot final : public WindowSlot {
 public:
  // As SlotModel::make_slot().
  Slot(std::shared_ptr<const SpeechModel> model, int threads);
  ~Slot() override;

  // The abort takes effect within one encoder pass or one decoder step. Bounded work: at most one encoder
  // pass per two seconds plus four, at most 220 tokens per pass and temperature.
  WindowResult transcribe(const Window& window, const DecodeOptions& options,
                          const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
