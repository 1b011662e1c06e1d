#pragma once

#include <whisper.h>

#include <vector>

#include "speech/decode.h"

namespace verbatim {

// The segments of a whisper_state after a window of `seconds`: times clipped to the window, text as valid UTF-8, text
// tokens only (no time stamps, no end of text). no_speech: one probability for each segment.
std::vector<Segment> collect_segments(whisper_context* context, whisper_state* state,
                                      const std::vector<float>& no_speech, double seconds);

// Sets Segment::decoding for the segments of the same result. temperatures: one for each segment of the state.
void describe_segments(whisper_context* context, whisper_state* state, const std::vector<float>& temperatures,
                       std::vector<Segment>& segments);

// Sets average_log_probability and scored_tokens from the state after the window.
void score_tokens(whisper_context* context, whisper_state* state, WindowResult& result);

}  // namespace verbatim
