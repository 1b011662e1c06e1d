#pragma once

#include <cstddef>
#include <span>

#include "transformer/compute_type.h"
#include "transformer/token_id.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// Token and position embeddings of one side, made on the host straight from the mapped file: a handful of
// rows a step, so the tables need no memory of their own.
class Embedder {
 public:
  // `type`: the type the weights are computed in; a table of another type is rounded to it row by row.
  Embedder(const TransformerStack& stack, ComputeType type) : stack_(stack), type_(type) {}

  std::size_t width() const noexcept { return stack_.embeddings.columns; }
  // Positions that the model has; 0 = no limit.
  std::size_t positions() const noexcept { return stack_.positions.rows; }
  // Throws EngineError kInvalidArgument for a token or a position that the model does not have.
  void check(TokenId token, std::size_t position) const;
  // The position's row, zeros where the model has none. position < positions() if that is not 0.
  void position_row(std::size_t position, std::span<float> out) const;
  // out = scaled token row + position_row.
  void embed(TokenId token, std::span<const float> position_row, std::span<float> out) const;

 private:
  void round_to_type(std::span<float> row) const;

  const TransformerStack& stack_;
  ComputeType type_;
};

}  // namespace verbatim::transformer
