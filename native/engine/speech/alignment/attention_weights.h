#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "speech/alignment/token_matrix.h"

namespace verbatim::alignment {

// The cross-attention of some heads of a decoder while it reads a text that is known. Some heads of Whisper
// look at the sound of the token that comes next (Radford et al., "Robust Speech Recognition via Large-Scale
// Weak Supervision", 2022); what becomes of their weights follows OpenAI's whisper/timing.py.
class AttentionWeights {
 public:
  // tokens: of the text; positions: those that hold sound. All 1 or more. Throws std::bad_alloc.
  AttentionWeights(std::size_t heads, std::size_t tokens, std::size_t positions);

  // weights: softmax over positions() or more; those past the sound are left out, and the others scaled to
  // the sum of 1, which makes them the softmax over the sound alone; if there is nothing of them, they are
  // all 0. Any thread, each place once.
  void set(std::size_t head, std::size_t token, std::span<const float> weights) noexcept;

  // How much each token is said at each position: every head normalised over the tokens to mean 0 and
  // deviation 1, smoothed over time by a median of 7, and the mean over these heads (1 or more of them).
  TokenMatrix likeness(std::span<const std::size_t> heads) const;
  TokenMatrix likeness() const;

  std::size_t heads() const noexcept { return heads_; }
  std::size_t positions() const noexcept { return positions_; }
  std::size_t memory_bytes() const noexcept { return values_.capacity() * sizeof(float); }

 private:
  std::span<const float> row(std::size_t head, std::size_t token) const noexcept;

  std::size_t heads_;
  std::size_t tokens_;
  std::size_t positions_;
  // [heads][tokens][positions]
  std::vector<float> values_;
};

// Each value's median with the three before it and the three behind it, mirrored at the ends; values of fewer
// than four stay as they are. out: as long as `values`, which it may not overlap.
void median_of_seven(std::span<const float> values, std::span<float> out);

}  // namespace verbatim::alignment
