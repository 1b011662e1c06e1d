#pragma once

#include <string>
#include <vector>

namespace verbatim::translation {

// Options of a batch, with the meaning that CTranslate2 gives them.
struct TranslationOptions {
  // 1 = greedy; at most 64.
  int beam_size = 4;
  // Hypotheses returned per sentence, at most beam_size * patience.
  int num_hypotheses = 1;
  // A sentence is finished with beam_size * patience hypotheses; > 0.
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
  // Put the most attended source token in the place of an unknown token.
  bool replace_unknowns = false;
  // Longer sources are cut; 0 = no limit.
  int max_input_length = 1024;
  // Tokens of a hypothesis, the target prefix included and the end token not; at least 1.
  int max_decoding_length = 256;
  int min_decoding_length = 1;
  // Tokens that end a hypothesis; empty = the model's end token.
  std::vector<std::string> end_tokens;
  // Keep the end token in the hypothesis.
  bool return_end_token = false;
  // Return the attention over the source for each token.
  bool return_attention = false;
  // Sentences decoded together; a call with more is cut into several such batches. At least 1.
  int max_batch_size = 64;

  // Throws EngineError kInvalidArgument naming the field, its value and what is allowed.
  void check() const;
};

}  // namespace verbatim::translation
