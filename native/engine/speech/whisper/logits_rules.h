#pragma once

#include "speech/whisper/hypothesis.h"
#include "speech/whisper/special_tokens.h"

namespace verbatim::whisper {

struct TokenRange {
  TokenId begin = 0;
  TokenId end = 0;
  bool empty() const noexcept { return begin >= end; }
};

// The tokens that may come next. None between the end of text and the first time stamp ever may.
struct AllowedTokens {
  // Text, and the end of text behind it.
  TokenRange text;
  TokenRange time_stamps;
  // One token of the text that may not come, or -1.
  TokenId banned = -1;
};

// Whisper's rules for what may follow a text, as whisper.cpp has them (whisper_process_logits).
struct LogitsRules {
  SpecialTokens tokens;
  // The token of a single space.
  TokenId blank = 0;
  bool time_stamps = true;
  // Text tokens a segment at most; 0: no limit.
  int max_tokens = 0;

  AllowedTokens allowed_after(const Hypothesis& text) const;
};

}  // namespace verbatim::whisper
