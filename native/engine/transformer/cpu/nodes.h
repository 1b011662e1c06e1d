#pragma once

#include <cstddef>
#include <optional>

#include "transformer/cpu/ops.h"

// The nodes of CPU graphs. Inputs are the sources of the output tensor.
namespace verbatim::transformer {

// Source 0: x or its quantized rows; then the gate and the residual where there are any.
class LinearNode final : public CpuNode {
 public:
  LinearNode(const Kernels& kernels, const std::size_t& rows, const PackedMatrix& matrix,
             const Linear& weights, std::optional<Activation> activation, bool has_gate, bool has_residual);
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  void (*gemm_)(const GemmCall&);
  const std::size_t& rows_;
  const PackedMatrix& matrix_;
  const float* bias_;
  int activation_;
  bool has_gate_;
  bool has_residual_;
};

class QuantizeNode final : public CpuNode {
 public:
  QuantizeNode(const Kernels& kernels, const std::size_t& rows, bool round)
      : kernels_(kernels), rows_(rows), round_(round) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  const std::size_t& rows_;
  bool round_;
};

class NormNode final : public CpuNode {
 public:
  NormNode(const Kernels& kernels, const std::size_t& rows, const LayerNorm& weights)
      : kernels_(kernels), rows_(rows), weights_(weights) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  const std::size_t& rows_;
  const LayerNorm& weights_;
};

class ScaleNode final : public CpuNode {
 public:
  ScaleNode(const std::size_t& rows, float factor) : rows_(rows), factor_(factor) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const std::size_t& rows_;
  float factor_;
};

// Hands each row of logits, its input, to the batch's visitor: what follows the network runs on all threads
// too.
class VisitNode final : public CpuNode {
 public:
  explicit VisitNode(const CpuBatch& batch) : batch_(batch) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const CpuBatch& batch_;
};

// What the attention nodes share.
struct AttentionShape {
  std::size_t width = 0;
  std::size_t heads = 0;
  std::size_t head_size() const { return width / heads; }
};

// Rows of relative position vectors by distance, as floats.
class RelativePositions {
 public:
  explicit RelativePositions(const MatrixView& table);
  bool empty() const noexcept { return values_.empty(); }
  // The vector of key position minus query position.
  const float* at(std::ptrdiff_t distance) const noexcept;

 private:
  std::size_t columns_ = 0;
  std::ptrdiff_t furthest_ = 0;
  std::vector<float> values_;
};

class EncoderAttentionNode final : public CpuNode {
 public:
  EncoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights,
                       const CpuBatch& batch);
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  AttentionShape shape_;
  RelativePositions keys_;
  RelativePositions values_;
  const CpuBatch& batch_;
};

class DecoderAttentionNode final : public CpuNode {
 public:
  DecoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights,
                       std::size_t layer, CpuBatch& batch);
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  AttentionShape shape_;
  RelativePositions keys_;
  RelativePositions values_;
  std::size_t layer_;
  CpuBatch& batch_;
};

class CrossAttentionNode final : public CpuNode {
 public:
  // alignment_heads: heads whose mean is recorded as the alignment; 0 = none of this layer.
  CrossAttentionNode(const Kernels& kernels, AttentionShape shape, std::size_t layer, int alignment_heads,
                     CpuBatch& batch)
      : kernels_(kernels),
        shape_(shape),
        layer_(layer),
        alignment_heads_(static_cast<std::size_t>(alignment_heads)),
        batch_(batch) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  // Rows [first, last) of one sentence, one head. Keys and values of a head stay in the cache for all of
  // them.
  void run_head(ggml_tensor* out, AttendCall& call, std::size_t first, std::size_t last,
                std::size_t head) const;
  bool is_recorded() const { return alignment_heads_ > 0 && !batch_.attention.empty(); }
  void record(std::size_t row, std::size_t head, const AttendCall& call) const;

  const Kernels& kernels_;
  AttentionShape shape_;
  std::size_t layer_;
  std::size_t alignment_heads_;
  CpuBatch& batch_;
};

}  // namespace verbatim::transformer
