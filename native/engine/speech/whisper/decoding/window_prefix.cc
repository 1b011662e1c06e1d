#include "speech/whisper/decoding/window_prefix.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace verbatim::whisper {
namespace {

// The rules may forbid a token that an earlier decoding chose: its score is no likelihood then.
constexpr float kLeastLogProbability = -10.0f;

}  // namespace

std::vector<TokenId> prefix_tokens(const TextPrefix& prefix, const Vocabulary& vocabulary) {
  const SpecialTokens& special = vocabulary.special();
  std::string_view rest = prefix.text;
  std::vector<TokenId> tokens;
  // Time stamps count where text follows them.
  std::vector<TokenId> stamps;
  if (rest.empty()) return tokens;
  for (const TokenId token : prefix.tokens) {
    if (rest.empty()) break;
    if (special.is_time_stamp(token) && token < special.vocabulary) {
      stamps.push_back(token);
      continue;
    }
    if (!special.is_text(token) || !rest.starts_with(vocabulary.text(token))) break;
    tokens.insert(tokens.end(), stamps.begin(), stamps.end());
    stamps.clear();
    tokens.push_back(token);
    rest.remove_prefix(vocabulary.text(token).size());
  }
  if (tokens.empty()) tokens = {special.first_time_stamp};
  const std::vector<TokenId> others = vocabulary.tokenize(rest);
  tokens.insert(tokens.end(), others.begin(), others.end());
  return tokens;
}

WindowPrefix::WindowPrefix(const SpecialTokens& special, bool time_stamps, std::vector<TokenId> tokens)
    : special_(special), time_stamps_(time_stamps), tokens_(std::move(tokens)) {}

void WindowPrefix::begin_pass(const LogitsRules& rules, const TextBounds& bounds) {
  if (!empty() && (is_rest_ || !time_stamps_ || !fits(bounds))) leave_time_stamps_out();
  scored_.assign(size(), {});
  allowed_.clear();
  Hypothesis text;
  for (const TokenId token : tokens_) {
    allowed_.push_back(rules.allowed_after(text));
    append(text, {token, token}, bounds, special_);
  }
  allowed_.push_back(rules.allowed_after(text));
}

// Inner time stamps come in pairs, never decrease, and leave some of the audio.
bool WindowPrefix::fits(const TextBounds& bounds) const {
  TokenId last = special_.first_time_stamp;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!special_.is_time_stamp(tokens_[i])) continue;
    const bool follows_one = i > 0 && special_.is_time_stamp(tokens_[i - 1]);
    const bool precedes_one = i + 1 < size() && special_.is_time_stamp(tokens_[i + 1]);
    if (tokens_[i] < last || (i == 0 ? precedes_one : follows_one == precedes_one)) return false;
    last = tokens_[i];
  }
  return bounds.seek + kHundredthsPerTimeStamp * (last - special_.first_time_stamp) + kLeastRest < bounds.seek_end;
}

void WindowPrefix::leave_time_stamps_out() {
  std::erase_if(tokens_, [&](TokenId token) { return special_.is_time_stamp(token); });
  if (time_stamps_) tokens_.insert(tokens_.begin(), special_.first_time_stamp);
}

void WindowPrefix::score(std::size_t index, const TokenDistribution& distribution) {
  DecodedToken token = distribution.token(tokens_[index]);
  token.log_probability = std::clamp(token.log_probability, kLeastLogProbability, 0.0f);
  token.probability = std::exp(token.log_probability);
  if (special_.is_time_stamp(token.id)) token.time_stamp = token.id;
  if (token.time_stamp == 0) token.time_stamp = special_.first_time_stamp;
  scored_[index] = token;
}

void WindowPrefix::end_pass(std::size_t kept) {
  const auto taken = static_cast<std::ptrdiff_t>(std::min(kept, size()));
  tokens_.erase(tokens_.begin(), tokens_.begin() + taken);
  // Empty before the first pass.
  if (!scored_.empty()) scored_.erase(scored_.begin(), scored_.begin() + taken);
  is_rest_ = true;
  if (std::ranges::none_of(tokens_, [&](TokenId token) { return special_.is_text(token); })) {
    tokens_.clear();
    scored_.clear();
  }
}

}  // namespace verbatim::whisper
