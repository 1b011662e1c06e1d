#pragma once

#include <whisper.h>

#include <memory>

namespace verbatim {

struct StateDeleter {
  void operator()(whisper_state* state) const noexcept { whisper_free_state(state); }
};

// whisper.cpp's state of a window. Must not outlive its context.
using StatePointer = std::unique_ptr<whisper_state, StateDeleter>;

}  // namespace verbatim
