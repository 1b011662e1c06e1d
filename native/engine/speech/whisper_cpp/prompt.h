#pragma once

#include <whisper.h>

#include <vector>

#include "speech/decode.h"

namespace verbatim {

// The prompt that whisper_full_with_state decodes first for a window without history: [<|startofprev|> initial...]
// <|startoftranscript|> [language task] [<|notimestamps|>]. `language`: whisper.cpp's language id, ignored for
// English-only models.
std::vector<whisper_token> first_prompt(whisper_context* context, const std::vector<whisper_token>& initial,
                                        int language, const DecodeOptions& options);

}  // namespace verbatim
