#pragma once

#include "require_option.h"

namespace verbatim {

// Throws EngineError kInvalidArgument unless threads, of one slot or translator, is 1 to 256. More only cost memory,
// and OpenMP ends the process if it cannot start them.
inline void require_thread_count(int threads) {
  require_option(threads >= 1 && threads <= 256, "threads", threads, "1 to 256");
}

}  // namespace verbatim
