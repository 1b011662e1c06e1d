#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/outlier_columns.h"
#include "transformer/cpu/row_multiplier.h"
#include "transformer/cpu/self_attention.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

struct FeedForwardLayer {
  BalancedLinears up;
  // Without the columns that are multiplied apart.
  PackedLinear down;
  OutlierColumns down_outliers = {};
};

struct AttentionLayer {
  BalancedLinears qkv;
  AttentionOutput out;
};

// The layers that encoders have in common, on this engine's kernels or on the accelerator. Activations are float32
// [positions][width]. A thread takes a block of positions through all of a step, so that what the step computes between
// its products stays in the thread's cache. A result does not depend on the number of threads. One call at a time.
// Throws std::bad_alloc, EngineError kOutOfMemory, and std::exception for errors of the accelerator.
class EncoderLayers {
 public:
  // Working memory of one thread for a block.
  struct Lane {
    std::unique_ptr<RowMultiplier> multiplier;
    std::vector<float> norm, inner, outliers;
    std::vector<std::byte> operands, inner_operands;
  };

  // kernels: must outlive this. threads: 1 to 256.
  EncoderLayers(const ProductFormat& format, const Kernels& kernels, const AttentionShape& shape, int threads);

  // Threads of the following calls, 1 to 256. Frees the working memory of threads beyond them.
  void set_threads(int threads);
  // Leaves out of the following calls the threads for which so many positions have no block, until the next call of
  // this or of set_threads(). OpenMP ends threads that a loop does not need, and starts them again.
  void use_threads_for(std::size_t positions) noexcept;
  void for_each_block(std::size_t positions, const std::function<void(PositionBlock, Lane&)>& task);
  // x += attention(norm(x)). relative: null if only content matters.
  void attention(const AttentionLayer& layer, const RelativePositions* relative, std::vector<float>& x);
  // x += down(activation(up(norm(x))))
  void feed_forward(const FeedForwardLayer& layer, Activation activation, std::vector<float>& x);

  // Normalized rows as operands of the layers behind the norm. The result is in the lane.
  const std::byte* normalized(const BalancedLinears& layers, const float* rows, std::size_t count, Lane& lane) const;
  // Rows of `size` values that begin `stride` values apart, as operands in `out`.
  static const std::byte* operands(const Lane& lane, const float* rows, std::size_t count, std::size_t size,
                                   std::size_t stride, std::vector<std::byte>& out);

  std::size_t memory_bytes() const noexcept;

 private:
  std::size_t blocks_of(std::size_t positions) const noexcept;

  const ProductFormat format_;
  const Kernels& kernels_;
  const std::size_t width_;
  // A norm's bias is folded into the layers behind it.
  const std::vector<float> zeros_;
  std::unique_ptr<SelfAttention> attention_;
  std::vector<Lane> lanes_;  // [threads]
  // Threads that loops use.
  int active_ = 1;
};

}  // namespace verbatim::transformer
