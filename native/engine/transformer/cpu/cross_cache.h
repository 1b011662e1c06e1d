#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/cpu/attention_shape.h"
#include "transformer/cpu/huge_block.h"
#include "transformer/decoder.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::transformer {

// One query of one head against a source.
struct CrossQuery {
  std::size_t layer = 0;
  std::size_t head = 0;
  const float* query = nullptr;  // [head_size]
  float* out = nullptr;          // [head_size]
};

// A thread's working memory for attention.
struct CrossScratch {
  // Also a result: the weights of the last query, [positions].
  std::vector<float> probabilities;
  std::vector<std::uint8_t> bytes;
  std::vector<float> out;
};

// The keys and values of a source, in the layout of one element type.
class CpuCrossCache : public CrossCache {
 public:
  CpuCrossCache(const Kernels& kernels, const AttentionShape& shape, std::size_t positions)
      : kernels_(kernels), shape_(shape), positions_(positions) {}
  std::size_t positions() const noexcept override { return positions_; }
  virtual void attend(const CrossQuery& query, CrossScratch& scratch) const = 0;

 protected:
  const Kernels& kernels() const noexcept { return kernels_; }
  const AttentionShape& shape() const noexcept { return shape_; }

 private:
  const Kernels& kernels_;
  AttentionShape shape_;
  std::size_t positions_;
};

// Rows as the encoder writes them, float32 [positions, 2 * width] for each layer. The memory may belong to others.
class Float32CrossCache final : public CpuCrossCache {
 public:
  // Allocates its memory. Throws EngineError kOutOfMemory.
  Float32CrossCache(const Kernels& kernels, const AttentionShape& shape, std::size_t layers, std::size_t positions);
  // Uses memory that outlives it: the first row of each layer.
  Float32CrossCache(const Kernels& kernels, const AttentionShape& shape, std::span<float* const> layers,
                    std::size_t positions);

  void write(std::size_t layer, std::size_t first, std::span<const float> rows) override;
  std::size_t memory_bytes() const noexcept override { return own_.size(); }
  void attend(const CrossQuery& query, CrossScratch& scratch) const override;

 private:
  void add_layer(float* rows);

  HugeBlock own_;
  // [layers][positions]
  std::vector<float*> rows_;
};

// Throws EngineError kOutOfMemory.
std::unique_ptr<CpuCrossCache> make_cross_cache(const Kernels& kernels, ComputeType type, const AttentionShape& shape,
                                                std::size_t layers, std::size_t positions);

}  // namespace verbatim::transformer
