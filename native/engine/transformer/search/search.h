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

// A batch for the search: all sources are non-empty.
struct SearchBatch {
  std::span<const std::vector<TokenId>> sources;
  // For each source, the tokens that its hypotheses must begin with; may be empty.
  std::span<const std::vector<TokenId>> prefixes;
  // For each source, the token that starts the decoder.
  std::span<const TokenId> starts;
};

// The settings of a search on one model.
struct SearchSettings {
  SearchOptions options;
  // Token that ends a hypothesis.
  TokenId end_id = 0;
  TokenId unk_id = 0;
  // Positions of the decoder; 0 = no limit.
  std::size_t decoder_positions = 0;
  // Return the attention of every hypothesis.
  bool with_attention = false;

  // Most tokens of a hypothesis.
  std::size_t max_length() const noexcept;
  bool needs_attention() const noexcept;
};

struct SearchHypothesis {
  // Includes the end token, if one ended it.
  std::vector<TokenId> ids;
  // Sum of log-probabilities; after the search, normalized and penalized.
  float score = 0.0f;
  // For each token, over the source positions; empty unless the settings need attention.
  std::vector<std::vector<float>> attention;
};

// num_hypotheses for each source, best first.
using SearchResults = std::vector<std::vector<SearchHypothesis>>;

// Greedy search for a beam of 1, else beam search, as in CTranslate2 (stopping rules, scores, prefixes), except that
// sentences of a batch do not influence each other. Throws EngineError kAborted and what the executor throws.
SearchResults search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                     const SearchSettings& settings, const AbortFlag* abort);

}  // namespace verbatim::transformer
