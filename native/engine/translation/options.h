#pragma once

#include "transformer/search/options.h"

namespace verbatim::translation {

// Options of a batch, with the meaning that CTranslate2 gives them: those of the search, and what concerns
// the tokens on both sides of it.
struct TranslationOptions : transformer::SearchOptions {
  // Put the most attended source token in the place of an unknown token.
  bool replace_unknowns = false;
  // Longer sources are cut; 0 = no limit.
  int max_input_length = 1024;
  // Return the attention over the source for each token.
  bool return_attention = false;
  // Sentences decoded together; a call with more is cut into several such batches. At least 1.
  int max_batch_size = 64;

  // Throws EngineError kInvalidArgument naming the field, its value and what is allowed.
  void check() const;
};

}  // namespace verbatim::translation
