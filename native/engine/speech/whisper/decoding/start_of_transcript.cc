#include "speech/whisper/decoding/start_of_transcript.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace verbatim::whisper {

float no_speech_probability(const transformer::Kernels& kernels, std::span<const float> logits,
                            const SpecialTokens& tokens) {
  transformer::TokenId best;
  float largest;
  kernels.top_k(logits.data(), logits.size(), 1, &best, &largest);
  const float log_sum = kernels.log_sum_exp(logits.data(), logits.size(), largest);
  return std::exp(logits[static_cast<std::size_t>(tokens.no_speech)] - log_sum);
}

std::vector<float> language_probabilities(std::span<const float> logits, const SpecialTokens& tokens,
                                          std::size_t languages) {
  const auto known = logits.subspan(static_cast<std::size_t>(tokens.language(0)), languages);
  const float largest = *std::ranges::max_element(known);
  std::vector<float> probabilities;
  double sum = 0.0;
  for (const float logit : known) {
    probabilities.push_back(std::exp(logit - largest));
    sum += static_cast<double>(probabilities.back());
  }
  for (float& probability : probabilities) {
    probability = static_cast<float>(static_cast<double>(probability) / sum);
  }
  return probabilities;
}

}  // namespace verbatim::whisper
