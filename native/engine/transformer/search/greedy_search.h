#pragma once

#include "transformer/search/search.h"

namespace verbatim::transformer {

// Takes the most probable token at every step.
SearchResults greedy_search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                            const SearchSettings& settings, const AbortFlag* abort);

}  // namespace verbatim::transformer
