#pragma once

namespace verbatim::transformer {

// Options of a search, with the meaning that CTranslate2 gives them.
struct SearchOptions {
  // 1 = greedy; at most 64.
  int beam_size = 4;
  // Hypotheses returned per source, at most beam_size * patience.
  int num_hypotheses = 1;
  // A source is finished with beam_size * patience hypotheses; > 0.
  float patience = 1.0f;
  // Scores are divided by length ^ length_penalty; 0 = plain sums of log-probabilities.
  float length_penalty = 1.0f;
  // Weight of the penalty for source positions that were not attended to; 0 = none.
  float coverage_penalty = 0.0f;
  // Divides the logits of tokens that were produced already; 1 = none.
  float repetition_penalty = 1.0f;
  // No n-gram of this size twice; 0 = no limit.
  int no_repeat_ngram_size = 0;
  // Never produce the unknown token.
  bool disable_unk = false;
  // Most tokens of a hypothesis, including the target prefix and excluding the end token; at least 1.
  int max_decoding_length = 256;
  int min_decoding_length = 1;

  // Throws EngineError kInvalidArgument with the field, its value and what is allowed.
  void check() const;
};

}  // namespace verbatim::transformer
