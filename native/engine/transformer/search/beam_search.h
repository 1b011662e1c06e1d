#pragma once

#include "transformer/search/search.h"

namespace verbatim::transformer {

// Beam search with beam_size >= 2.
SearchResults beam_search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                          const SearchSettings& settings, const AbortFlag* abort);

}  // namespace verbatim::transformer
