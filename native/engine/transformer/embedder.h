#pragma once

#include <cstddef>
#include <span>

#include "transformer/compute_type.h"
#include "transformer/token_id.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// Token and position embeddings of the encoder or the decoder. The host computes them from the mapped file: few rows
// per step, so the tables need no memory of their own.
class Embedder {
 public:
  // `type`: the type of computation; rows of a table of another type are rounded to it.
  Embedder(const TransformerStack& stack, ComputeType type) : stack_(stack), type_(type) {}

  std::size_t width() const noexcept { return stack_.embeddings.columns; }
  // Positions of the model; 0 = no limit.
  std::size_t positions() const noexcept { return stack_.positions.rows; }
  // Throws EngineError kInvalidArgument for a token or a position that the model does not have.
  void check(TokenId token, std::size_t position) const;
  // The position's row; zeros if the model has none. position < positions() unless that is 0.
  void position_row(std::size_t position, std::span<float> out) const;
  // out = scaled token row + position_row.
  void embed(TokenId token, std::span<const float> position_row, std::span<float> out) const;

 private:
  void round_to_type(std::span<float> row) const;

  const TransformerStack& stack_;
  ComputeType type_;
};

}  // namespace verbatim::transformer
