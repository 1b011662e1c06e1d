#include "speech/whisper/decoding/logits_rules.h"

#include <algorithm>
#include <cstddef>

namespace verbatim::whisper {
namespace {

// The first time stamp is at most one second.
constexpr TokenId kLatestFirstTimeStamp = 50;

void keep_pairs(AllowedTokens& allowed, const Hypothesis& text, const SpecialTokens& tokens) {
  const std::size_t length = text.tokens.size();
  if (length == 0 || !tokens.is_time_stamp(text.tokens[length - 1].id)) return;
  const bool closed = length < 2 || tokens.is_time_stamp(text.tokens[length - 2].id);
  if (closed) {
    allowed.time_stamps = {};
  } else {
    allowed.text.begin = tokens.end_of_text;
  }
}

}  // namespace

AllowedTokens LogitsRules::allowed_after(const Hypothesis& text) const {
  const bool first = text.tokens.empty();
  AllowedTokens allowed;
  allowed.text = {0, first ? tokens.end_of_text : tokens.end_of_text + 1};
  if (first) allowed.banned = blank;
  if (time_stamps) allowed.time_stamps = {tokens.first_time_stamp, tokens.vocabulary};
  if (time_stamps && max_tokens > 0 && static_cast<int>(text.tokens.size()) >= max_tokens) {
    allowed.text.begin = tokens.end_of_text;
  }
  keep_pairs(allowed, text, tokens);
  if (allowed.time_stamps.empty()) return allowed;
  if (first) {
    allowed.time_stamps.end = std::min(allowed.time_stamps.end, tokens.first_time_stamp + kLatestFirstTimeStamp + 1);
  }
  if (text.has_time_stamp) {
    allowed.time_stamps.begin += text.seek_delta / kHundredthsPerTimeStamp;
  }
  return allowed;
}

}  // namespace verbatim::whisper
