#pragma once

#include <cstddef>
#include <memory>

#include "speech/parakeet/model.h"
#include "speech/slot_model.h"

namespace verbatim::parakeet {

// One parakeet_state. It is renewed where a window has left it in the middle of something.
//
// Tokens and times are those of whisper.cpp's own command line for the same samples. An abort takes effect
// after the encoder pass, or before the decoder's next step. Bounded work: one encoder pass, and at each of
// its positions at most as many tokens as the model says.
class Slot final : public WindowSlot {
 public:
  // As SlotModel::make_slot().
  Slot(std::shared_ptr<const Model> model, int threads);
  ~Slot() override;

  WindowResult transcribe(const Window& window, const DecodeOptions& options,
                          const AbortFlag* abort) override;
  std::size_t memory_bytes() const noexcept override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::parakeet
