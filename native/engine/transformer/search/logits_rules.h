#pragma once

#include <span>
#include <vector>

#include "transformer/search/search.h"

namespace verbatim::transformer {

// Changes one row of logits before the softmax: repetition penalty, then bans (n-grams, the unknown token, end tokens
// while the hypothesis is too short).
class LogitsRules {
 public:
  explicit LogitsRules(const SearchSettings& settings) : settings_(settings) {}

  // ids: the hypothesis so far, without the start token.
  void apply(std::span<float> logits, std::span<const TokenId> ids) const;

 private:
  void penalize_repetition(std::span<float> logits, std::span<const TokenId> ids) const;
  void ban_ngrams(std::span<float> logits, std::span<const TokenId> ids) const;

  const SearchSettings& settings_;
};

}  // namespace verbatim::transformer
