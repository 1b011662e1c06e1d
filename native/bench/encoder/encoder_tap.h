#pragma once

#include <vector>

namespace verbatim::bench {

// whisper.cpp has no function that returns its encoder's output. But ggml's scheduler offers every operation to every
// accelerator before it runs. When it offers the decoder's cross-attention projections, their input is computed, so a
// device that accepts nothing can read the encoder's output. Registers that device for later states; call it before
// other threads use ggml.
void register_encoder_tap();

// While it lives, the calling thread's encoder output, [positions][state], is copied to `target`. Scopes do not nest.
class EncoderTap {
 public:
  explicit EncoderTap(std::vector<float>& target);
  ~EncoderTap();
  EncoderTap(const EncoderTap&) = delete;
  EncoderTap& operator=(const EncoderTap&) = delete;
};

}  // namespace verbatim::bench
