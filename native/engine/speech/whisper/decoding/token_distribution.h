#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "speech/whisper/decoding/hypothesis.h"
#include "speech/whisper/decoding/logits_rules.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::whisper {

// The distribution of the next token: the softmax over the allowed tokens. If all time stamps together are likelier
// than any text token, the next token is a time stamp. Probabilities are not rescaled for that.
class TokenDistribution {
 public:
  // logits: [vocabulary], modified: they are divided by temperatures above 0. They must outlive this.
  TokenDistribution(const transformer::Kernels& kernels, std::span<float> logits, const AllowedTokens& allowed,
                    float temperature);

  // The lowest id among equals.
  TokenId most_likely() const noexcept { return best_; }
  DecodedToken token(TokenId id) const;
  // The likeliest token, with its margin.
  DecodedToken explained_most_likely(const transformer::Kernels& kernels) const;

  // The ranges of tokens that may be drawn, and the largest logit in them.
  TokenRange text() const noexcept { return text_; }
  TokenRange time_stamps() const noexcept { return time_stamps_; }
  std::span<const float> logits() const noexcept { return logits_; }
  float largest() const noexcept { return logits_[static_cast<std::size_t>(best_)]; }

 private:
  struct Peak;
  Peak peak_of(const transformer::Kernels& kernels, TokenRange range) const;

  std::span<float> logits_;
  TokenRange text_;
  TokenRange time_stamps_;
  TokenId best_ = 0;
  TokenId best_time_stamp_ = 0;
  float time_stamp_lead_ = 0.0f;
  float log_sum_ = 0.0f;
};

// Draws tokens from a distribution: the same tokens as std::discrete_distribution from the same random numbers, without
// its table of the whole vocabulary.
class TokenSampler {
 public:
  // Both must outlive this.
  TokenSampler(const transformer::Kernels& kernels, const TokenDistribution& distribution);
  TokenId draw(std::mt19937& random) const { return draw_with_margin(random).id; }

  struct Drawn {
    TokenId id = 0;
    // Roughly how far logits would have to move for another token. The borders of a token's share of the distribution,
    // F, move by at most 2 F (1 - F) for each nat that every logit moves.
    float margin = 0.0f;
  };
  Drawn draw_with_margin(std::mt19937& random) const;

 private:
  struct Block {
    TokenRange tokens;
    // Sum of this block and those before it.
    double sum = 0.0;
  };
  void add_blocks(TokenRange range);
  Drawn find(const Block& block, double before, double target) const;

  const transformer::Kernels& kernels_;
  const TokenDistribution& distribution_;
  std::vector<Block> blocks_;
};

}  // namespace verbatim::whisper
