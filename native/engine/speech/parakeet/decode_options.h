#pragma once

#include "speech/decode.h"

namespace verbatim::parakeet {

// Parakeet decodes greedily and takes neither a language nor a prompt. Options of Whisper's fall-back have no effect,
// and every window is encoded at its own length. Throws EngineError kInvalidArgument with the option, its value and
// what is allowed; kUnsupportedLanguage for "auto".
void check_decode_options(const DecodeOptions& options);

}  // namespace verbatim::parakeet
