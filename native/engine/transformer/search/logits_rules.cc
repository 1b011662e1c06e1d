#include "transformer/search/logits_rules.h"

#include <algorithm>
#include <limits>

namespace verbatim::transformer {
namespace {

void ban(std::span<float> logits, TokenId id) {
  if (static_cast<std::size_t>(id) < logits.size()) {
    logits[static_cast<std::size_t>(id)] = std::numeric_limits<float>::lowest();
  }
}

}  // namespace

void LogitsRules::apply(std::span<float> logits, std::span<const TokenId> ids) const {
  const SearchOptions& options = settings_.options;
  if (options.repetition_penalty != 1.0f) penalize_repetition(logits, ids);
  if (options.no_repeat_ngram_size > 0) ban_ngrams(logits, ids);
  if (options.disable_unk) ban(logits, settings_.unk_id);
  if (ids.size() < static_cast<std::size_t>(options.min_decoding_length)) {
    ban(logits, settings_.end_id);
  }
}

void LogitsRules::penalize_repetition(std::span<float> logits, std::span<const TokenId> ids) const {
  const float penalty = settings_.options.repetition_penalty;
  std::vector<TokenId> once(ids.begin(), ids.end());
  std::ranges::sort(once);
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const TokenId id : once) {
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit < 0.0f ? logit * penalty : logit / penalty;
  }
}

void LogitsRules::ban_ngrams(std::span<float> logits, std::span<const TokenId> ids) const {
  const auto size = static_cast<std::size_t>(settings_.options.no_repeat_ngram_size);
  if (ids.size() < size) return;
  const auto last = ids.last(size - 1);
  for (std::size_t i = 0; i + size <= ids.size(); ++i) {
    if (std::ranges::equal(ids.subspan(i, size - 1), last)) ban(logits, ids[i + size - 1]);
  }
}

}  // namespace verbatim::transformer
