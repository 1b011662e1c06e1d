#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "transformer/cpu/ops.h"

// The nodes of CPU graphs, without those of attention. Inputs are the sources of the output tensor.
namespace verbatim::transformer {

// The part of [0, size) that one thread computes.
std::pair<std::size_t, std::size_t> share(std::size_t size, int thread, int threads);

// Source 0: x or its quantized rows; then the gate and the residual, if any.
class LinearNode final : public CpuNode {
 public:
  LinearNode(const Kernels& kernels, const std::size_t& rows, const PackedMatrix& matrix, const Linear& weights,
             std::optional<Activation> activation, bool has_gate, bool has_residual);
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

// The rows of its input whose logits are wanted.
class GatherNode final : public CpuNode {
 public:
  explicit GatherNode(const DecoderStep& step) : step_(step) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const DecoderStep& step_;
};

// Passes each row of its input, which is logits, to the step's callback. So the callbacks run on all threads.
class LogitsNode final : public CpuNode {
 public:
  explicit LogitsNode(const DecoderStep& step) : step_(step) {}
  void run(ggml_tensor* out, int thread, int threads) override;

 private:
  const DecoderStep& step_;
};

}  // namespace verbatim::transformer
