#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "speech/model_tensors.h"

namespace verbatim::test {

// What a model with random weights is made to say after the prompt, at every position of its decoder:
// English, transcribe, 0 s, `text_tokens` tokens of text that are all different, 29 s, and the end of text
// from there on. It holds for windows whose prompt has no earlier text: then every program decodes the same
// number of tokens in a window, whatever it hears. Throws std::invalid_argument unless text_tokens is 1 to
// 400.
std::vector<std::int32_t> scripted_tokens(const ModelShape& shape, int text_tokens);

// Makes `positions` [text_context x text_state] (decoder.positional_embedding, row by row) choose that
// script: a row gets its token's embedding, so much enlarged that the layers' own output does not count
// beside it; the logits are the embeddings' products with the last layer's output, which then points to the
// token. `embedding` is [vocabulary x text_state] (decoder.token_embedding.weight).
void script_positions(std::span<float> positions, std::span<const float> embedding, const ModelShape& shape,
                      int text_tokens);

}  // namespace verbatim::test
