#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// The cross-attention weights of some decoder heads while the decoder reads a known text. Some heads of Whisper attend
// to the audio of the token that comes next (Radford et al., "Robust Speech Recognition via Large-Scale Weak
// Supervision", 2022).
class AttentionWeights {
 public:
  // tokens: number of tokens in the text, 1 or more. positions: encoder positions that hold sound, ascending, 1 or
  // more. Throws std::bad_alloc.
  AttentionWeights(std::size_t heads, std::size_t tokens, std::vector<std::size_t> positions);

  // weights: softmax over the encoder's positions, at least up to the last of `positions`. Positions without sound are
  // dropped and the rest is scaled to the sum 1, which equals a softmax over the sound alone. If all of them are 0,
  // they stay 0. May be called from any thread, once for each head and token.
  void set(std::size_t head, std::size_t token, std::span<const float> weights) noexcept;

  // How well each token matches each position: the mean over these heads (1 or more) of the logarithm of the weight. A
  // small constant is added first, so that weights close to 0 differ little.
  TokenMatrix likeness(std::span<const std::size_t> heads) const;
  TokenMatrix likeness() const;

  std::size_t tokens() const noexcept { return tokens_; }
  std::span<const std::size_t> positions() const noexcept { return positions_; }
  std::size_t memory_bytes() const noexcept { return values_.capacity() * sizeof(float); }

 private:
  std::size_t heads_;
  std::size_t tokens_;
  std::vector<std::size_t> positions_;
  // [heads][tokens][positions]
  std::vector<float> values_;
};

}  // namespace verbatim::alignment
