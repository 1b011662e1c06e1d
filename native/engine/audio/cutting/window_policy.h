#pragma once

#include "audio/cutting/window.h"

namespace verbatim {

// Throws EngineError kInvalidArgument for values out of range.
void check_window_policy(const WindowPolicy& policy);

}  // namespace verbatim
