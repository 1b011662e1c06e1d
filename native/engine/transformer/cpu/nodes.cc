#include "transformer/cpu/nodes.h"

#include <ggml.h>

#include <algorithm>
#include <tuple>

namespace verbatim::transformer {
namespace {

const float* floats(const ggml_tensor* tensor) { return static_cast<const float*>(tensor->data); }
float* floats(ggml_tensor* tensor) { return static_cast<float*>(tensor->data); }

using Gemm = void (*)(const GemmCall&);

Gemm gemm_of(const Kernels& kernels, ComputeType type) {
  switch (type) {
    case ComputeType::kBfloat16:
      return kernels.gemm_bfloat16;
    case ComputeType::kInt8:
      return kernels.gemm_int8;
    // choose_cpu_compute_type() never returns float16.
    case ComputeType::kFloat16:
    case ComputeType::kFloat32:
      break;
  }
  return kernels.gemm_float32;
}

}  // namespace

std::pair<std::size_t, std::size_t> share(std::size_t size, int thread, int threads) {
  const auto index = static_cast<std::size_t>(thread);
  const auto count = static_cast<std::size_t>(threads);
  return {size * index / count, size * (index + 1) / count};
}

LinearNode::LinearNode(const Kernels& kernels, const std::size_t& rows, const PackedMatrix& matrix,
                       const Linear& weights, std::optional<Activation> activation, bool has_gate, bool has_residual)
    : gemm_(gemm_of(kernels, matrix.type())),
      rows_(rows),
      matrix_(matrix),
      bias_(weights.bias.empty() ? nullptr : weights.bias.data()),
      activation_(activation ? static_cast<int>(*activation) : -1),
      has_gate_(has_gate),
      has_residual_(has_residual) {}

void LinearNode::run(ggml_tensor* out, int thread, int threads) {
  GemmCall call;
  matrix_.prepare(call);
  call.x = out->src[0]->data;
  call.rows = rows_;
  std::tie(call.first_panel, call.last_panel) = share(matrix_.panels(), thread, threads);
  call.y = floats(out);
  call.ld = matrix_.outputs();
  call.epilogue.bias = bias_;
  call.epilogue.activation = activation_;
  if (has_gate_) call.epilogue.gate = floats(out->src[1]);
  if (has_residual_) call.epilogue.residual = floats(out->src[has_gate_ ? 2 : 1]);
  gemm_(call);
}

void QuantizeNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto depth = static_cast<std::size_t>(x->ne[0]);
  const auto [first, last] = share(rows_, thread, threads);
  auto* quantized = static_cast<std::int8_t*>(out->data);
  for (std::size_t row = first; row < last; ++row) {
    kernels_.quantize_row(floats(x) + row * depth, depth, round_, quantized + row * quantized_row_bytes(depth));
  }
}

void NormNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto size = static_cast<std::size_t>(x->ne[0]);
  const float* beta = weights_.beta.empty() ? nullptr : weights_.beta.data();
  const auto [first, last] = share(rows_, thread, threads);
  for (std::size_t row = first; row < last; ++row) {
    kernels_.layer_norm(floats(x) + row * size, size, weights_.gamma.data(), beta, weights_.epsilon,
                        floats(out) + row * size);
  }
}

void ScaleNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto [first, last] = share(rows_ * static_cast<std::size_t>(x->ne[0]), thread, threads);
  for (std::size_t i = first; i < last; ++i) floats(out)[i] = floats(x)[i] * factor_;
}

void GatherNode::run(ggml_tensor* out, int thread, int threads) {
  const ggml_tensor* x = out->src[0];
  const auto width = static_cast<std::size_t>(x->ne[0]);
  const auto [first, last] = share(step_.wanted.size(), thread, threads);
  for (std::size_t i = first; i < last; ++i)
    std::copy_n(floats(x) + step_.wanted[i] * width, width, floats(out) + i * width);
}

void LogitsNode::run(ggml_tensor* out, int thread, int threads) {
  ggml_tensor* logits = out->src[0];
  const auto vocabulary = static_cast<std::size_t>(logits->ne[0]);
  const auto [first, last] = share(step_.wanted.size(), thread, threads);
  for (std::size_t i = first; i < last; ++i)
    (*step_.on_logits)(step_.first_row + step_.wanted[i], {floats(logits) + i * vocabulary, vocabulary});
}

}  // namespace verbatim::transformer
