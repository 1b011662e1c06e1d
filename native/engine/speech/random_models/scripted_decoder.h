#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "speech/model_tensors.h"

namespace verbatim::random_models {

// The tokens that a model with random weights is made to decode after the prompt, one for every position of its
// decoder: English, transcribe, 0 s, `text_tokens` different text tokens, 29 s, and then the end of text. This holds
// for windows whose prompt has no earlier text: every program then decodes the same number of tokens in a window,
// whatever the sound. Throws EngineError (invalid_argument) unless text_tokens is 1 to 400.
std::vector<std::int32_t> scripted_tokens(const ModelShape& shape, int text_tokens);

// Makes `positions` [text_context x text_state] (decoder.positional_embedding, row by row) that produce that script.
// Each row is its token's embedding, scaled so much that the layers' own output hardly counts. The logits are the
// products of the embeddings with the last layer's output, which then points to the token. `embedding` is [vocabulary x
// text_state] (decoder.token_embedding.weight).
void script_positions(std::span<float> positions, std::span<const float> embedding, const ModelShape& shape,
                      int text_tokens);

}  // namespace verbatim::random_models
