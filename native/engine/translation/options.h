#pragma once

#include "transformer/search/options.h"

namespace verbatim::translation {

// Options of a batch, with the meaning that CTranslate2 gives them: those of the search, and those of the source and
// target tokens.
struct TranslationOptions : transformer::SearchOptions {
  // Replaces each unknown token by the source token with the most attention.
  bool replace_unknowns = false;
  // Longer sources are cut; 0 = no limit.
  int max_input_length = 1024;
  // Return each token's attention over the source.
  bool return_attention = false;
  // Sentences decoded together; a call with more is split into batches. At least 1.
  int max_batch_size = 64;

  // Throws EngineError kInvalidArgument with the field, its value and what is allowed.
  void check() const;
};

}  // namespace verbatim::translation
