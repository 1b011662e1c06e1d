#pragma once

#include <cstddef>
#include <vector>

#include "transformer/cpu/attention_shape.h"
#include "transformer/cpu/ops.h"

// The attention nodes of CPU graphs. Inputs are the sources of the output tensor.
namespace verbatim::transformer {

// Rows of relative position vectors by distance, as floats.
class RelativePositions {
 public:
  explicit RelativePositions(const MatrixView& table);
  bool empty() const noexcept { return values_.empty(); }
  // The vector for key position minus query position.
  const float* at(std::ptrdiff_t distance) const noexcept;
  // The vectors of keys [0, count) for a query at `position`.
  void list(std::size_t count, std::size_t position, std::vector<const float*>& out) const;

 private:
  std::size_t columns_ = 0;
  std::ptrdiff_t furthest_ = 0;
  std::vector<float> values_;
};

class EncoderAttentionNode final : public CpuNode {
 public:
  EncoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights,
                       const EncoderBatch& batch);
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  AttentionShape shape_;
  RelativePositions keys_;
  RelativePositions values_;
  const EncoderBatch& batch_;
};

// Source 0: queries, keys and values. Appends keys and values to the histories. This is a node of its own, since rows
// of one text attend to earlier rows of the same step. The output tensor is empty.
class AppendNode final : public CpuNode {
 public:
  AppendNode(const Kernels& kernels, AttentionShape shape, std::size_t layer, const DecoderStep& step)
      : kernels_(kernels), shape_(shape), layer_(layer), step_(step) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const Kernels& kernels_;
  AttentionShape shape_;
  std::size_t layer_;
  const DecoderStep& step_;
};

// Sources: queries, keys and values; an AppendNode.
class DecoderAttentionNode final : public CpuNode {
 public:
  DecoderAttentionNode(const Kernels& kernels, AttentionShape shape, const Attention& weights, std::size_t layer,
                       const DecoderStep& step);
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  void (*attend_)(const AttendCall&);
  AttentionShape shape_;
  RelativePositions keys_;
  RelativePositions values_;
  std::size_t layer_;
  const DecoderStep& step_;
};

class CrossAttentionNode final : public CpuNode {
 public:
  CrossAttentionNode(AttentionShape shape, std::size_t layer, const DecoderStep& step)
      : shape_(shape), layer_(layer), step_(step) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  // One head of the rows [first, last) of by_source, which share one source: its keys and values stay in the
  // processor's cache for all of them.
  void run_head(ggml_tensor* out, std::size_t first, std::size_t last, std::size_t head, CrossScratch& scratch) const;
  void record(std::size_t row, std::size_t head, const CrossScratch& scratch) const;

  AttentionShape shape_;
  std::size_t layer_;
  const DecoderStep& step_;
};

}  // namespace verbatim::transformer
