#pragma once

#include <vector>

#include "abort.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/parakeet/segments.h"

namespace verbatim::parakeet {

// Whether there is enough in the window to decode. longest: seconds that the model takes. `abort` may be
// null. Throws EngineError as WindowSlot::transcribe().
bool is_decoded(const Window& window, const DecodeOptions& options, double longest, const AbortFlag* abort);

// What is told of a window's tokens. timings: whose total and tokens are set here.
WindowResult make_result(const std::vector<TimedToken>& tokens, const Window& window,
                         const DecodeOptions& options, Timings timings);

}  // namespace verbatim::parakeet
