#include "transformer/gpu/weights.h"

#include <ggml.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "error.h"
#include "transformer/gpu/device_errors.h"
#include "transformer/gpu/graph.h"
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

// Uploads rows of the matrix from `first` on; sets their corrections.
void upload_rows(const MatrixView& matrix, std::size_t first, ggml_tensor* target, std::span<float> corrections) {
  std::vector<std::byte> bytes(ggml_nbytes(target));
  const auto rows = static_cast<std::size_t>(target->ne[1]);
  const std::size_t row_bytes = bytes.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    std::byte* out = bytes.data() + i * row_bytes;
    if (target->type == GGML_TYPE_Q8_0) {
      corrections[first + i] = write_q8_row(matrix, first + i, out);
    } else {
      write_row(matrix, first + i, target->type, out);
    }
  }
  ggml_backend_tensor_set(target, bytes.data(), 0, bytes.size());
}

void upload_matrix(const MatrixView& matrix, const GpuLinear& target) {
  std::vector<float> corrections(matrix.rows);
  std::size_t first = 0;
  for (ggml_tensor* part : target.parts) {
    upload_rows(matrix, first, part, corrections);
    first += static_cast<std::size_t>(part->ne[1]);
  }
  set(target.correction, corrections);
}

}  // namespace

GpuWeights::GpuWeights(const Transformer& model, ComputeType type, ggml_backend_dev_t backend_device)
    : type_(type), backend_device_(backend_device) {
  constexpr std::size_t kMostTensors = 16384;
  context_.reset(ggml_init({ggml_tensor_overhead() * kMostTensors, nullptr, true}));
  if (!context_) throw_out_of_device_memory();
  on_device([&] {
    declare(model);
    buffer_.reset(
        ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), ggml_backend_dev_buffer_type(backend_device)));
    if (!buffer_) throw EngineError(ErrorCode::kOutOfMemory, "no memory for the weights on the device");
    upload();
  });
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
  const ggml_type type = weight_type(matrix, type_);
  const auto columns = static_cast<std::int64_t>(matrix.columns);
  const auto most = static_cast<std::int64_t>(part_rows(matrix, type));
  GpuLinear target;
  for (std::int64_t first = 0; first < rows; first += most)
    target.parts.push_back(ggml_new_tensor_2d(context_.get(), type, columns, std::min(most, rows - first)));
  if (!linear.bias.empty()) target.bias = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, rows);
  if (type == GGML_TYPE_Q8_0) target.correction = ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, rows);
  linears_.emplace(&linear, target);
}

// The rows of a matrix that the device multiplies at once: all, or an equal part of them.
std::size_t GpuWeights::part_rows(const MatrixView& matrix, ggml_type type) const {
  constexpr std::size_t kMostParts = 64;
  for (std::size_t parts = 1;; parts *= 2) {
    const std::size_t rows = (matrix.rows + parts - 1) / parts;
    const ggml_context_ptr context = new_gpu_context(3);
    ggml_tensor* weight = ggml_new_tensor_2d(context.get(), type, dim(matrix.columns), dim(rows));
    ggml_tensor* x = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, dim(matrix.columns), 1);
    const ggml_tensor* product = ggml_mul_mat(context.get(), weight, x);
    if (ggml_backend_dev_supports_op(backend_device_, product)) return rows;
    if (parts == kMostParts || rows == 1) throw_unsupported(*product, backend_device_);
  }
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
  for (const auto& [table, target] : tables_) upload_matrix(*table, {{target}, nullptr, nullptr});
}

}  // namespace verbatim::transformer
