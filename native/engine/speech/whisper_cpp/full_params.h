#pragma once

#include <whisper.h>

#include "speech/decode.h"

namespace verbatim {

// The options as whisper.cpp's parameters. The caller sets language, prompt and callbacks.
whisper_full_params full_params(const DecodeOptions& options, int threads);

}  // namespace verbatim
