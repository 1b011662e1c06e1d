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
};

// Cuts a text at its time stamps. seek: hundredths of a second where its encoder pass began; seek_delta:
// where the text ends, from there.
std::vector<DecodedSegment> cut_segments(std::span<const DecodedToken> text, const SpecialTokens& tokens,
                                         int seek, int seek_delta);

// A token's bytes, up to a zero byte (Vocabulary::text).
using TokenText = std::function<std::string_view(TokenId)>;

// Sets segments, with their choices if `explain`, average_log_probability and scored_tokens. seconds: the
// window's length, which times are clipped to.
void collect_segments(std::span<const DecodedSegment> segments, const SpecialTokens& tokens,
                      const TokenText& text, double seconds, bool explain, WindowResult& result);

}  // namespace verbatim::whisper
