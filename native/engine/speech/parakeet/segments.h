#pragma once

#include <vector>

#include "speech/decode.h"

namespace verbatim::parakeet {

// A token with the time that the model predicted.
struct TimedToken {
  // Its text, with the space before it.
  Token token;
  // Seconds from the start of the window. Over a window's tokens they never decrease, and none overlap.
  double start_seconds = 0.0;
  double end_seconds = 0.0;
};

// The text of a SentencePiece piece, with plain spaces. Empty for a piece that is no text.
std::string text_of_piece(std::string_view piece);

// The segments of a window of `seconds`: one for each sentence, by the model's punctuation. `align`, `describe`: as in
// DecodeOptions. The joined texts of the segments are valid_utf8() of the tokens' joined texts. No segment is blank.
std::vector<Segment> make_segments(const std::vector<TimedToken>& tokens, double seconds, bool align, bool describe);

// Sets average_log_probability and scored_tokens.
void score_tokens(const std::vector<TimedToken>& tokens, WindowResult& result);

}  // namespace verbatim::parakeet
