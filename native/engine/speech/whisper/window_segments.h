#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/hypothesis.h"

namespace verbatim::whisper {

// A stretch of text between time stamps, as it was decoded.
struct DecodedSegment {
  // Hundredths of a second from the start of the window; a model may place them outside it.
  std::int64_t start = 0;
  std::int64_t end = 0;
  float no_speech_probability = 0.0f;
  // Text, time stamps and end of text.
  std::vector<DecodedToken> tokens;
  // Where each token of text begins, seconds of the window, and last where the last one ends; empty unless it
  // was aligned.
  std::vector<double> token_starts = {};
  float temperature = 0.0f;
};

// Cuts a text at its time stamps. seek: hundredths of a second where its encoder pass began; seek_delta:
// where the text ends, from there.
std::vector<DecodedSegment> cut_segments(std::span<const DecodedToken> text, const SpecialTokens& tokens,
                                         int seek, int seek_delta);

// A token's bytes, up to a zero byte (Vocabulary::text).
using TokenText = std::function<std::string_view(TokenId)>;

// What segments are to be like.
struct SegmentFormat {
  // The window's length, which times are clipped to.
  double seconds = 0.0;
  // With the choices of their tokens.
  bool explain = false;
  // Words have spaces between them.
  bool spaced = true;
  // With what they were decoded to.
  bool describe = false;
};

// Sets segments, average_log_probability and scored_tokens. Those that were aligned have words, whose times
// are the aligner's.
void collect_segments(std::span<const DecodedSegment> segments, const SpecialTokens& tokens,
                      const TokenText& text, const SegmentFormat& format, WindowResult& result);

}  // namespace verbatim::whisper
