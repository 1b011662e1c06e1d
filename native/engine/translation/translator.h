#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "abort.h"
#include "translation/options.h"

namespace verbatim::translation {

// One sentence, below the tokenizer.
struct TranslationInput {
  // Without the tokens that the model adds itself (TranslationModelInfo::add_source_bos, add_source_eos).
  std::vector<std::string> source;
  // Tokens that the translation must begin with, e.g. a language code; may be empty unless the model has no
  // start token of its own.
  std::vector<std::string> target_prefix;
};

struct TranslationHypothesis {
  // The target prefix included.
  std::vector<std::string> tokens;
  // Log-probability, normalized by the length penalty.
  float score = 0.0f;
  // Per token, over the source tokens (those that the model adds are left out); empty unless asked for.
  std::vector<std::vector<float>> attention;
};

struct TranslationTimings {
  // 0 with the CTranslate2 library, which does not tell.
  double encode_ms = 0.0;
  double total_ms = 0.0;
  // Source tokens, added ones included.
  std::size_t tokens_in = 0;
  // Tokens of the best hypotheses.
  std::size_t tokens_out = 0;
};

struct TranslationBatch {
  // Per input, best first.
  std::vector<std::vector<TranslationHypothesis>> results;
  TranslationTimings timings;
};

// Translates batches with one model. Holds the buffers of a batch in flight: one call at a time; several
// translators of a model run in parallel.
class Translator {
 public:
  virtual ~Translator() = default;

  // A sentence gives the same tokens alone and in any batch (with the CTranslate2 library: but for near
  // ties). Throws EngineError: kAborted (the translator stays usable), kInvalidArgument (options, a source
  // that is longer than the model's positions, a missing target prefix), kOutOfMemory. `abort` may be null.
  virtual TranslationBatch translate(std::span<const TranslationInput> inputs,
                                     const TranslationOptions& options, const AbortFlag* abort) = 0;

  // Bytes held between calls, for the garbage collector's account of external memory.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

}  // namespace verbatim::translation
