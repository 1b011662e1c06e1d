#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/decoding/hypothesis.h"

namespace verbatim::whisper {

// The decoded tokens between two time stamps.
struct DecodedSegment {
  // Hundredths of a second from the start of the window; a model may place them outside it.
  std::int64_t start = 0;
  std::int64_t end = 0;
  float no_speech_probability = 0.0f;
  // Text tokens, time stamps and end of text.
  std::vector<DecodedToken> tokens;
  // Where each text token begins, in seconds of the window, and last where the last one ends. Empty unless aligned.
  std::vector<double> token_starts = {};
  float temperature = 0.0f;
  // The time stamp before the tokens that they do not have; -1: there is none.
  TokenId opening = -1;
};

// Cuts a text at its time stamps. seek: where its encoder pass began, in hundredths of a second. seek_delta: where the
// text ends, relative to seek.
std::vector<DecodedSegment> cut_segments(std::span<const DecodedToken> text, const SpecialTokens& tokens, int seek,
                                         int seek_delta);

// A token's bytes, up to a zero byte (Vocabulary::text).
using TokenText = std::function<std::string_view(TokenId)>;

// The form of the segments in a result.
struct SegmentFormat {
  // The window's length; times are clipped to it.
  double seconds = 0.0;
  // Fill in Segment::choices.
  bool explain = false;
  // Words have spaces between them.
  bool spaced = true;
  // Fill in Segment::decoding.
  bool describe = false;
};

// Sets segments, average_log_probability and scored_tokens. Aligned segments have words, with the aligner's times.
void collect_segments(std::span<const DecodedSegment> segments, const SpecialTokens& tokens, const TokenText& text,
                      const SegmentFormat& format, WindowResult& result);

}  // namespace verbatim::whisper
