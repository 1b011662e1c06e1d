#include "transformer/gpu/weights.h"

#include <ggml.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "error.h"
#include "transformer/half.h"
#include "transformer/linears.h"
#include "transformer/quantize_weights.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kBlock = 32;           // values in a block of Q8_0
constexpr std::size_t kBlockBytes = 2 + 32;  // a float16 scale, then the values

ggml_type weight_type(const MatrixView& matrix, ComputeType type) {
  switch (type) {
    case ComputeType::kFloat16:
      return GGML_TYPE_F16;
    case ComputeType::kBfloat16:
      return GGML_TYPE_BF16;
    case ComputeType::kInt8:
      return matrix.columns % kBlock == 0 ? GGML_TYPE_Q8_0 : GGML_TYPE_F32;
    case ComputeType::kFloat32:
      break;
  }
  return GGML_TYPE_F32;
}

// Writes one row as Q8_0; returns the factor that corrects the rounding of its scale.
float write_q8_row(const MatrixView& matrix, std::size_t row, std::byte* out) {
  std::vector<std::int8_t> values(matrix.columns);
  float scale = matrix.row_scale(row);
  if (matrix.holds(ElementType::kInt8)) {
    matrix.read_row_int8(row, values);
  } else {
    std::vector<float> floats(matrix.columns);
    matrix.read_row(row, floats);
    scale = quantize_weights(floats, values);
  }
  // Clamped to the normal numbers of float16, which are precise.
  const std::uint16_t stored = float_to_float16(std::clamp(1.0f / scale, 0x1p-14f, 60000.0f));
  for (std::size_t i = 0; i < matrix.columns; i += kBlock, out += kBlockBytes) {
    std::memcpy(out, &stored, sizeof(stored));
    std::memcpy(out + sizeof(stored), values.data() + i, kBlock);
  }
  return 1.0f / (scale * float16_to_float(stored));
}

void write_row(const MatrixView& matrix, std::size_t row, ggml_type type, std::byte* out) {
  std::vector<float> floats(matrix.columns);
  matrix.read_row(row, floats);
  if (type == GGML_TYPE_F32) {
    std::memcpy(out, floats.data(), floats.size() * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const std::uint16_t half = type == GGML_TYPE_F16 ? float_to_float16(floats[i]) : float_to_bfloat16(floats[i]);
    std::memcpy(out + i * sizeof(half), &half, sizeof(half));
  }
}

void set(ggml_tensor* tensor, const std::vector<float>& values) {
  if (tensor) ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(float));
}

void upload_matrix(const MatrixView& matrix, const GpuLinear& target) {
  std::vector<std::byte> bytes(ggml_nbytes(target.weight));
  std::vector<float> corrections(matrix.rows);
  const std::size_t row_bytes = bytes.size() / matrix.rows;
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    std::byte* out = bytes.data() + i * row_bytes;
    if (target.weight->type == GGML_TYPE_Q8_0) {
      corrections[i] = write_q8_row(matrix, i, out);
    } else {
      write_row(matrix, i, target.weight->type, out);
    }
  }
  ggml_backend_tensor_set(target.weight, bytes.data(), 0, bytes.size());
  set(target.correction, corrections);
}

}  // namespace

GpuWeights::GpuWeights(const Transformer& model, ComputeType type, ggml_backend_buffer_type_t memory) : type_(type) {
  constexpr std::size_t kMostTensors = 16384;
  context_.reset(ggml_init({ggml_tensor_overhead() * kMostTensors, nullptr, true}));
  if (context_) declare(model);
  if (context_) buffer_.reset(ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), memory));
  if (!buffer_) throw EngineError(ErrorCode::kOutOfMemory, "no memory for the weights on the device");
  upload();
}

void GpuWeights::declare(const Transformer& model) {
  for (const Linear* linear : linears(model)) declare_linear(*linear);
  for (const TransformerStack* stack : {&model.encoder, &model.decoder}) {
    if (stack->embeddings_norm) declare_norm(*stack->embeddings_norm);
    if (stack->final_norm) declare_norm(*stack->final_norm);
    for (const TransformerLayer& layer : stack->layers) {
      declare_norm(layer.self_attention.norm);
      declare_norm(layer.feed_forward.norm);
      if (layer.cross_attention) declare_norm(layer.cross_attention->norm);
      declare_table(layer.self_attention.relative_keys);
      declare_table(layer.self_attention.relative_values);
    }
  }
}

void GpuWeights::declare_linear(const Linear& linear) {
  const MatrixView& matrix = linear.weight;
  const auto rows = static_cast<std::int64_t>(matrix.rows);
  GpuLinear target;
  target.weight =
      ggml_new_tensor_2d(context_.get(), weight_type(matrix, type_), static_cast<std::int64_t>(matrix.columns), rows);
  if (!linear.bias.empty()) target.bias = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, rows);
  if (target.weight->type == GGML_TYPE_Q8_0)
    target.correction = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, rows);
  linears_.emplace(&linear, target);
}

void GpuWeights::declare_norm(const LayerNorm& norm) {
  const auto width = static_cast<std::int64_t>(norm.gamma.size());
  GpuNorm target{ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, width), nullptr};
  if (!norm.beta.empty()) target.beta = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, width);
  norms_.emplace(&norm, target);
}

void GpuWeights::declare_table(const MatrixView& table) {
  if (table.empty()) return;
  tables_.emplace(&table, ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, static_cast<std::int64_t>(table.columns),
                                             static_cast<std::int64_t>(table.rows)));
}

void GpuWeights::upload() const {
  for (const auto& [linear, target] : linears_) {
    upload_matrix(linear->weight, target);
    set(target.bias, linear->bias);
  }
  for (const auto& [norm, target] : norms_) {
    set(target.gamma, norm->gamma);
    set(target.beta, norm->beta);
  }
  for (const auto& [table, target] : tables_) upload_matrix(*table, {target, nullptr, nullptr});
}

}  // namespace verbatim::transformer
