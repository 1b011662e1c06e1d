#pragma once

#include <limits>
#include <vector>

#include "speech/whisper/model/special_tokens.h"

namespace verbatim::whisper {

// whisper.cpp counts time in hundredths of a second. A time stamp is two of them, a window is 30 seconds.
inline constexpr int kHundredthsPerTimeStamp = 2;
inline constexpr int kWindowHundredths = 3000;

struct DecodedToken {
  TokenId id = 0;
  // The likeliest time stamp at this place; the token itself if it is one.
  TokenId time_stamp = 0;
  // [0, 1], and its natural logarithm: at the temperature, among the allowed tokens.
  float probability = 0.0f;
  float log_probability = 0.0f;
  // As in TokenChoice; only on request.
  TokenId runner_up = -1;
  float runner_up_log_probability = 0.0f;
  float time_stamp_lead = 0.0f;
  float margin = 0.0f;
};

// A text being decoded beside others: a beam or a candidate (whisper_decoder).
struct Hypothesis {
  std::vector<DecodedToken> tokens;
  // Number of tokens that count: up to the last time stamp, or all. The audio behind them is encoded again.
  int result_length = 0;
  // Sum over all tokens. Beams are compared by it.
  double log_probability = 0.0;
  // Over the tokens that count, once the text has ended.
  double average_log_probability = -std::numeric_limits<double>::infinity();
  // Where the next encoder pass begins, relative to this one, in hundredths of a second.
  int seek_delta = kWindowHundredths;
  bool has_time_stamp = false;
  bool completed = false;
  bool failed = false;

  bool ended() const noexcept { return completed || failed; }
};

// The limits of a text.
struct TextBounds {
  // Hundredths of a second in the window: where this encoder pass began, and where the audio ends.
  int seek = 0;
  int seek_end = 0;
  // Most text tokens of a segment; 0: no limit.
  int max_tokens = 0;
  // Most tokens of a text.
  int longest = 220;
  // Whether the model has time stamps.
  bool time_stamps = true;
};

// whisper.cpp ends a window when this much is left of it, in hundredths of a second.
inline constexpr int kLeastRest = 10;

// Appends a token and updates where the window continues and whether the text is complete or failed.
void append(Hypothesis& text, const DecodedToken& token, const TextBounds& bounds, const SpecialTokens& tokens);

}  // namespace verbatim::whisper
