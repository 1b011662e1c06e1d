#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "abort.h"
#include "transformer/executor.h"
#include "transformer/kernels/kernels.h"
#include "transformer/search/options.h"
#include "transformer/token_id.h"

namespace verbatim::transformer {

// A batch for the search: all sources non-empty.
struct SearchBatch {
  std::span<const std::vector<TokenId>> sources;
  // Per source: the tokens that its hypotheses must begin with; may be empty.
  std::span<const std::vector<TokenId>> prefixes;
  // Per source: the token that starts the decoder.
  std::span<const TokenId> starts;
};

// What the options mean for one model.
struct SearchSettings {
  SearchOptions options;
  // Ends a hypothesis.
  TokenId end_id = 0;
  TokenId unk_id = 0;
  // Positions that the decoder has; 0 = no limit.
  std::size_t decoder_positions = 0;
  // Return the attention of every hypothesis.
  bool with_attention = false;

  // Tokens of a hypothesis at most.
  std::size_t max_length() const noexcept;
  bool needs_attention() const noexcept;
};

struct SearchHypothesis {
  // With the end token, when one ended it.
  std::vector<TokenId> ids;
  // Sum of log-probabilities; after the search: normalized and penalized.
  float score = 0.0f;
  // Per token, over the source positions; empty unless the settings need attention.
  std::vector<std::vector<float>> attention;
};

// Best first, num_hypotheses per source.
using SearchResults = std::vector<std::vector<SearchHypothesis>>;

// Greedy for a beam of 1, else beam search, as CTranslate2 does them (stopping rules, scores, prefixes),
// except that no sentence is influenced by its neighbours in the batch. Throws EngineError kAborted and what
// the executor throws.
SearchResults search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                     const SearchSettings& settings, const AbortFlag* abort);

}  // namespace verbatim::transformer
