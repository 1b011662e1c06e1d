#pragma once

#include <span>
#include <vector>

#include "speech/whisper/model/special_tokens.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::whisper {

// What the logits after <|startoftranscript|> alone mean. logits: [vocabulary].

// The probability that nobody speaks, [0, 1].
float no_speech_probability(const transformer::Kernels& kernels, std::span<const float> logits,
                            const SpecialTokens& tokens);

// The probability of each of the first `languages` languages, relative to these.
std::vector<float> language_probabilities(std::span<const float> logits, const SpecialTokens& tokens,
                                          std::size_t languages);

}  // namespace verbatim::whisper
