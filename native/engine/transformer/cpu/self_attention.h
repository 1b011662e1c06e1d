#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transformer/cpu/attention_shape.h"
#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/row_multiplier.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// The output projection of attention.
struct AttentionOutput {
  // The kernels have a matrix for each head's part of the input, [width, head_size], so that each part has a scale of
  // its own; the accelerator has one for all.
  std::vector<LinearWeight> parts;
  std::span<const float> bias;  // [width], in WeightMemory
};

// A layer's scores by distance, as in Transformer-XL: (query + position bias) * projected distance is added to (query +
// content bias) * key.
struct RelativePositions {
  std::vector<float> content_bias, position_bias;  // [width]
  // The longest source.
  std::size_t positions = 0;
  // Projected distances of each head, from positions - 1 before to positions - 1 behind: [2 * positions - 1,
  // head_size]. They depend on the distance alone, so a shorter source uses the ones in the middle. For the kernels
  // `heads`, for the accelerator `operands`, one head behind the other.
  std::vector<PackedMatrix> heads;
  std::vector<std::byte> operands;
};

// Rows of operands' projections and of attention's results, and what they are added to.
struct PositionBlock {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Attention of every position of a source to every other. A result does not depend on the number of threads. One source
// at a time.
class SelfAttention {
 public:
  virtual ~SelfAttention() = default;

  // Threads that run() may use, 1 to 256. Frees the working memory of threads beyond them.
  virtual void set_threads(int threads) = 0;
  // Makes room for a source. Throws EngineError kOutOfMemory, std::bad_alloc.
  virtual void reserve(std::size_t positions) = 0;
  // Computes queries, keys and values of a block's positions, of its operands. `scratch` and `multiplier` are the
  // calling thread's. Several threads may project different positions at the same time. relative: null if only content
  // matters, here and in run(). Throws as RowMultiplier.
  virtual void project(const PackedLinear& qkv, const RelativePositions* relative, const std::byte* operands,
                       PositionBlock block, RowMultiplier& multiplier, std::vector<float>& scratch) = 0;
  // Attends from all positions, once they are projected, on at most as many threads as set_threads() was given. Throws
  // as RowMultiplier.
  virtual void run(std::size_t positions, const RelativePositions* relative, int threads) = 0;
  // Adds the output's projection of a block's results to its rows, [count][width]. Several threads may add different
  // blocks at the same time. Throws as RowMultiplier.
  virtual void add_result(const AttentionOutput& output, PositionBlock block, float* rows, RowMultiplier& multiplier,
                          std::vector<std::byte>& scratch) const = 0;
  // Of working memory for the longest source so far.
  virtual std::size_t memory_bytes() const noexcept = 0;
};

// Attention in the format's type, on one thread until set_threads(). kernels: must outlive the result.
std::unique_ptr<SelfAttention> make_self_attention(const ProductFormat& format, const Kernels& kernels,
                                                   const AttentionShape& shape);

AttentionOutput pack_attention_output(const Linear& linear, std::size_t heads, const ProductFormat& format,
                                      WeightMemory& memory);
// Bytes of WeightMemory that the output of this shape takes.
std::size_t attention_output_bytes(const AttentionShape& shape, const ProductFormat& format) noexcept;

// projected: [2 * positions - 1][width]; the biases are left empty.
RelativePositions pack_relative_positions(const std::vector<float>& projected, const AttentionShape& shape,
                                          const ProductFormat& format, WeightMemory& memory);
// Bytes of WeightMemory that they take.
std::size_t relative_positions_bytes(std::size_t positions, const AttentionShape& shape,
                                     const ProductFormat& format) noexcept;

}  // namespace verbatim::transformer
