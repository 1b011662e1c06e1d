#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// The cross-attention of some heads of a decoder while it reads a text that is known. Some heads of Whisper
// look at the sound of the token that comes next (Radford et al., "Robust Speech Recognition via Large-Scale
// Weak Supervision", 2022).
class AttentionWeights {
 public:
  // tokens: of the text, 1 or more. positions: of the encoder, those that hold sound, ascending, 1 or more.
  // Throws std::bad_alloc.
  AttentionWeights(std::size_t heads, std::size_t tokens, std::vector<std::size_t> positions);

  // weights: softmax over positions of the encoder, as far as the last of ours or further; those without
  // sound are left out, and the others scaled to the sum of 1, which makes them the softmax over the sound
  // alone; if there is nothing of them, they are all 0. Any thread, each place once.
  void set(std::size_t head, std::size_t token, std::span<const float> weights) noexcept;

  // How much each token is said at each of our positions: the mean over these heads (1 or more) of the
  // logarithm of the weight, in which what is a little less than nothing differs little from nothing.
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
