#pragma once

#include <cstddef>
#include <memory>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/slot_model.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {

// Holds one whisper_state. It is renewed (some milliseconds) before the next window wherever whisper.cpp would carry
// state over.
//
// For the same options and a single window the text equals that of whisper.cpp's command line. The no-speech
// probability differs on purpose: it is Whisper's, in every window. whisper.cpp 1.9.1 reads it from unwritten memory
// unless it detects the language, so that its no-speech threshold has no effect.
class Slot final : public WindowSlot {
 public:
  // Arguments and errors as in SlotModel::make_slot().
  Slot(std::shared_ptr<const SpeechModel> model, int threads);
  ~Slot() override;

  // An abort takes effect within one encoder pass or one decoder step. The work is bounded: at most one encoder pass
  // per two seconds plus four, at most 220 tokens per pass and temperature.
  WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim
