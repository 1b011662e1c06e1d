#pragma once

#include <whisper.h>

#include <vector>

#include "speech/decode.h"

namespace verbatim {

// The segments a whisper_state holds after a window of `seconds`: times clipped to the window, text as valid
// UTF-8, text tokens only (no time stamps, no end of text). `no_speech` has the no-speech probability of each
// segment.
std::vector<Segment> collect_segments(whisper_context* context, whisper_state* state,
                                      const std::vector<float>& no_speech, double seconds);

// Says of each segment of the same result what it was decoded to; `temperatures` has one for each segment of
// the state.
void describe_segments(whisper_context* context, whisper_state* state, const std::vector<float>& temperatures,
                       std::vector<Segment>& segments);

// Sets average_log_probability and scored_tokens from what the state holds after the window.
void score_tokens(whisper_context* context, whisper_state* state, WindowResult& result);

}  // namespace verbatim
