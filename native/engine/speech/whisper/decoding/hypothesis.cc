#include "speech/whisper/decoding/hypothesis.h"

namespace verbatim::whisper {
namespace {

// False for a time stamp that is earlier than the one before it.
bool follow_time_stamp(Hypothesis& text, TokenId id, const SpecialTokens& tokens) {
  const int last = static_cast<int>(text.tokens.size()) - 1;
  const int seek_delta = kHundredthsPerTimeStamp * (id - tokens.first_time_stamp);
  if (text.has_time_stamp && text.seek_delta > seek_delta && text.result_length < last) return false;
  text.seek_delta = seek_delta;
  text.result_length = last + 1;
  text.has_time_stamp = true;
  return true;
}

bool reaches_end_of_audio(const Hypothesis& text, const TextBounds& bounds) {
  return bounds.seek + text.seek_delta + kLeastRest >= bounds.seek_end;
}

void end(Hypothesis& text, const TextBounds& bounds) {
  const int length = static_cast<int>(text.tokens.size());
  if (!bounds.time_stamps) {
    text.result_length = length;
    text.seek_delta = kWindowHundredths;
  } else if (text.result_length == 0) {
    if (!reaches_end_of_audio(text, bounds)) {
      text.failed = true;
      return;
    }
    text.result_length = length;
  }
  text.completed = true;
}

}  // namespace

// Rules, order and edge cases are those of whisper_full_with_state. A first time stamp of 0.00 counts as none. A text
// that is cut off at its longest fails unless time stamps reached half the window.
void append(Hypothesis& text, const DecodedToken& token, const TextBounds& bounds, const SpecialTokens& tokens) {
  text.tokens.push_back(token);
  text.log_probability += static_cast<double>(token.log_probability);
  if (token.id > tokens.first_time_stamp && !follow_time_stamp(text, token.id, tokens)) {
    text.failed = true;
    return;
  }
  const int length = static_cast<int>(text.tokens.size());
  if (token.id == tokens.end_of_text || (bounds.max_tokens > 0 && length > bounds.max_tokens) ||
      (text.has_time_stamp && reaches_end_of_audio(text, bounds))) {
    end(text, bounds);
  } else if (length == bounds.longest && (text.result_length == 0 || text.seek_delta < kWindowHundredths / 2)) {
    text.failed = true;
  }
}

}  // namespace verbatim::whisper
