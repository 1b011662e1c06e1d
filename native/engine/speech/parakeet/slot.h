#pragma once

#include <cstddef>
#include <memory>

#include "speech/parakeet/model.h"
#include "speech/slot_model.h"

namespace verbatim::parakeet {

// Holds one parakeet_state and renews it when a window has left it unfinished.
//
// Tokens and times equal those of whisper.cpp's command line for the same samples. An abort takes effect after the
// encoder pass, or before the decoder's next step. The work is bounded: one encoder pass, and at each position at most
// the model's limit of tokens.
class Slot final : public WindowSlot {
 public:
  // Arguments and errors as in SlotModel::make_slot().
  Slot(std::shared_ptr<const Model> model, int threads);
  ~Slot() override;

  WindowResult transcribe(const Window& window, const DecodeOptions& options, const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::parakeet
