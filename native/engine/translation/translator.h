#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "abort.h"
#include "translation/options.h"

namespace verbatim::translation {

// One sentence as tokens.
struct TranslationInput {
  // Without the tokens that the model adds itself (TranslationModelInfo::add_source_bos, add_source_eos).
  std::vector<std::string> source;
  // Tokens that the translation must begin with, such as a language code. May be empty unless the model has no start
  // token of its own.
  std::vector<std::string> target_prefix;
};

struct TranslationHypothesis {
  // Includes the target prefix.
  std::vector<std::string> tokens;
  // Log-probability, normalized by the length penalty.
  float score = 0.0f;
  // For each token, over the source tokens without those that the model adds; empty unless requested.
  std::vector<std::vector<float>> attention;
};

struct TranslationTimings {
  // 0 with the CTranslate2 library, which does not report it.
  double encode_ms = 0.0;
  double total_ms = 0.0;
  // Source tokens, those that the model adds included.
  std::size_t tokens_in = 0;
  // Tokens of the best hypotheses.
  std::size_t tokens_out = 0;
};

struct TranslationBatch {
  // For each input, best first.
  std::vector<std::vector<TranslationHypothesis>> results;
  TranslationTimings timings;
};

// Translates batches with one model. Holds the buffers of one batch: one call at a time; several translators of a model
// run in parallel.
class Translator {
 public:
  virtual ~Translator() = default;

  // A sentence gives the same tokens alone and in any batch (with the CTranslate2 library, except near ties). Throws
  // EngineError: kAborted (the translator stays usable), kInvalidArgument (options, a source longer than the model's
  // positions, a missing target prefix), kOutOfMemory. `abort` may be null.
  virtual TranslationBatch translate(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                                     const AbortFlag* abort) = 0;

  // Bytes held between calls, for the garbage collector's account of external memory.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

}  // namespace verbatim::translation
