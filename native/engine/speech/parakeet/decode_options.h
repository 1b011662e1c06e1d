#pragma once

#include "speech/decode.h"

namespace verbatim::parakeet {

// Parakeet decodes greedily, in whatever language is spoken, and is told nothing. What steers Whisper's
// fall-back to other temperatures has nothing to steer here, and every window is encoded at its own length.
// Throws EngineError kInvalidArgument naming the option, its value and what is allowed; kUnsupportedLanguage
// for "auto".
void check_decode_options(const DecodeOptions& options);

}  // namespace verbatim::parakeet
