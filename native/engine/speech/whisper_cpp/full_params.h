#pragma once

#include <whisper.h>

#include "speech/decode.h"

namespace verbatim {

// The options as whisper.cpp takes them; language, prompt and callbacks are left to the caller.
whisper_full_params full_params(const DecodeOptions& options, int threads);

}  // namespace verbatim
