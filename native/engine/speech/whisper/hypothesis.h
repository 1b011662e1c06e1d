#pragma once

#include <limits>
#include <vector>

#include "speech/whisper/special_tokens.h"

namespace verbatim::whisper {

// whisper.cpp counts time in hundredths of a second; a time stamp is two of them, a window 30 seconds.
inline constexpr int kHundredthsPerTimeStamp = 2;
inline constexpr int kWindowHundredths = 3000;

struct DecodedToken {
  TokenId id = 0;
  // The likeliest time stamp at its place; the token itself where it is one.
  TokenId time_stamp = 0;
  // [0, 1], and its natural logarithm: at the temperature, of what the rules allow.
  float probability = 0.0f;
  float log_probability = 0.0f;
  // As in TokenChoice; only if they are asked for.
  TokenId runner_up = -1;
  float runner_up_log_probability = 0.0f;
  float time_stamp_lead = 0.0f;
  float margin = 0.0f;
};

// A text under way, one of those that are decoded side by side: a beam or a candidate (whisper_decoder).
struct Hypothesis {
  std::vector<DecodedToken> tokens;
  // Tokens that count: up to the last time stamp, or all of them. What follows is encoded again.
  int result_length = 0;
  // Sum over all tokens, by which beams are compared.
  double log_probability = 0.0;
  // Of the tokens that count, once the text has ended.
  double average_log_probability = -std::numeric_limits<double>::infinity();
  // Where the next encoder pass begins, from this one, in hundredths of a second.
  int seek_delta = kWindowHundredths;
  bool has_time_stamp = false;
  bool completed = false;
  bool failed = false;

  bool ended() const noexcept { return completed || failed; }
};

// What bounds a text.
struct TextBounds {
  // Hundredths of a second in the window: where this encoder pass began, and where the audio ends.
  int seek = 0;
  int seek_end = 0;
  // Text tokens a segment at most; 0: no limit.
  int max_tokens = 0;
  // Tokens a text at most.
  int longest = 220;
  // Whether the model sets time stamps.
  bool time_stamps = true;
};

// What is left of a window at which whisper.cpp ends it, hundredths of a second.
inline constexpr int kLeastRest = 10;

// Appends a token and draws its conclusions: where the window goes on, whether the text is complete or
// failed.
void append(Hypothesis& text, const DecodedToken& token, const TextBounds& bounds,
            const SpecialTokens& tokens);

}  // namespace verbatim::whisper
