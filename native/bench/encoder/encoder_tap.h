#pragma once

#include <vector>

namespace verbatim::bench {

// whisper.cpp does not hand out its encoder's output. ggml's scheduler, however, asks every accelerator about
// every operation before it runs, and when it asks about the decoder's cross-attention projections their
// input is computed: so a device that takes nothing sees the output pass. Registers that device, for states
// made from then on; to be called before other threads use ggml.
void register_encoder_tap();

// While it lives, the calling thread's encoder output, [positions][state], is kept in `target`. Scopes do not
// nest.
class EncoderTap {
 public:
  explicit EncoderTap(std::vector<float>& target);
  ~EncoderTap();
  EncoderTap(const EncoderTap&) = delete;
  EncoderTap& operator=(const EncoderTap&) = delete;
};

}  // namespace verbatim::bench
