#pragma once

#include "require_option.h"

namespace verbatim {

// Threads that one slot or translator computes with: 1 to 256; more only cost memory, and OpenMP ends the
// process where it cannot have them. Throws EngineError kInvalidArgument.
inline void require_thread_count(int threads) {
  require_option(threads >= 1 && threads <= 256, "threads", threads, "1 to 256");
}

}  // namespace verbatim
