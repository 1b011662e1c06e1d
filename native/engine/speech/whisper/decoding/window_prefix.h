#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/decoding/hypothesis.h"
#include "speech/whisper/decoding/logits_rules.h"
#include "speech/whisper/decoding/token_distribution.h"
#include "speech/whisper/model/special_tokens.h"
#include "speech/whisper/model/vocabulary.h"

namespace verbatim::whisper {

// The tokens of a prefix: those of prefix.tokens as far as they spell its text, then the rest of the text, split into
// tokens. Without prefix.tokens a first time stamp of 0.00 precedes them.
std::vector<TokenId> prefix_tokens(const TextPrefix& prefix, const Vocabulary& vocabulary);

// The tokens that every text of a pass begins with, and how likely the model finds them. What a pass leaves behind its
// last time stamp begins the next pass.
class WindowPrefix {
 public:
  // tokens: text and time stamps. time_stamps: whether the model has them.
  WindowPrefix(const SpecialTokens& special, bool time_stamps, std::vector<TokenId> tokens);

  // Before each pass. Time stamps that do not fit the pass are left out.
  void begin_pass(const LogitsRules& rules, const TextBounds& bounds);

  std::span<const TokenId> tokens() const noexcept { return tokens_; }
  std::size_t size() const noexcept { return tokens_.size(); }
  bool empty() const noexcept { return tokens_.empty(); }
  // What may come at this place by the rules; index: at most size().
  const AllowedTokens& allowed_at(std::size_t index) const noexcept { return allowed_[index]; }
  // Scores one token by the distribution at its place. Any thread, different tokens at a time.
  void score(std::size_t index, const TokenDistribution& distribution);
  std::span<const DecodedToken> scored() const noexcept { return scored_; }
  // So many tokens of this pass's text are in segments now.
  void end_pass(std::size_t kept);

 private:
  bool fits(const TextBounds& bounds) const;
  void leave_time_stamps_out();

  SpecialTokens special_;
  bool time_stamps_;
  std::vector<TokenId> tokens_;
  // [size()]
  std::vector<DecodedToken> scored_;
  // [size() + 1]
  std::vector<AllowedTokens> allowed_;
  // After a pass: what that pass left.
  bool is_rest_ = false;
};

}  // namespace verbatim::whisper
