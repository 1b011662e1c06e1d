#pragma once

#include <whisper.h>

#include <memory>

namespace verbatim {

struct StateDeleter {
  void operator()(whisper_state* state) const noexcept { whisper_free_state(state); }
};

// What whisper.cpp keeps of a window in flight. Must not outlive the context it was made of.
using StatePointer = std::unique_ptr<whisper_state, StateDeleter>;

}  // namespace verbatim
