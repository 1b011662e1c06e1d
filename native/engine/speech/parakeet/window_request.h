#pragma once

#include <vector>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/parakeet/segments.h"

namespace verbatim::parakeet {

// Whether the window is long enough to decode. longest: longest window of the model, seconds. `abort` may be null.
// Throws EngineError as WindowSlot::transcribe() does.
bool is_decoded(const Window& window, const DecodeOptions& options, double longest, const AbortFlag* abort);

// The result of a window with these tokens. Sets the timings' total and tokens.
WindowResult make_result(const std::vector<TimedToken>& tokens, const Window& window, const DecodeOptions& options,
                         Timings timings);

}  // namespace verbatim::parakeet
