#pragma once

#include "speech/whisper/decoding/hypothesis.h"
#include "speech/whisper/model/special_tokens.h"

namespace verbatim::whisper {

struct TokenRange {
  TokenId begin = 0;
  TokenId end = 0;
  bool empty() const noexcept { return begin >= end; }
};

// The tokens that may come next. Tokens between the end of text and the first time stamp are never allowed.
struct AllowedTokens {
  // Text tokens, and the end of text as the last.
  TokenRange text;
  TokenRange time_stamps;
  // One text token that is not allowed, or -1.
  TokenId banned = -1;
};

// Whisper's rules for what may follow a text, as in whisper.cpp (whisper_process_logits).
struct LogitsRules {
  SpecialTokens tokens;
  // The token of a single space.
  TokenId blank = 0;
  bool time_stamps = true;
  // Most text tokens of a segment; 0: no limit.
  int max_tokens = 0;

  AllowedTokens allowed_after(const Hypothesis& text) const;
};

}  // namespace verbatim::whisper
