#include "transformer/search/search.h"

#include <algorithm>
#include <cmath>

#include "transformer/search/beam_search.h"
#include "transformer/search/greedy_search.h"

namespace verbatim::transformer {

std::size_t SearchSettings::max_length() const noexcept {
  const auto wanted = static_cast<std::size_t>(options.max_decoding_length);
  return decoder_positions == 0 ? wanted : std::min(wanted, decoder_positions);
}

bool SearchSettings::needs_attention() const noexcept { return with_attention || options.coverage_penalty != 0.0f; }

SearchResults search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                     const SearchSettings& settings, const AbortFlag* abort) {
  if (settings.options.beam_size == 1) return greedy_search(executor, kernels, batch, settings, abort);
  return beam_search(executor, kernels, batch, settings, abort);
}

}  // namespace verbatim::transformer
