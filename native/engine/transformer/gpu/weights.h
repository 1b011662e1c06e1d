#pragma once

#include <ggml-cpp.h>

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "transformer/compute_type.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

struct GpuLinear {
  // [in, out], or parts of its rows where the device cannot read as large a matrix at once.
  std::vector<ggml_tensor*> parts;
  ggml_tensor* bias = nullptr;  // [out] or null
  // Q8_0 keeps a row's scale in 16 bits. This factor corrects it to the exact scale, [out] or null.
  ggml_tensor* correction = nullptr;
};

struct GpuNorm {
  ggml_tensor* gamma = nullptr;
  ggml_tensor* beta = nullptr;  // null: root mean square norm
};

// All weights of a model as ggml tensors on one device, in ggml's own types: int8 as Q8_0, with a row's scale in each
// of its blocks. Weights are exactly those of the file. Activations differ from CTranslate2, which quantizes whole
// rows: ggml's products quantize blocks of 32. Their distance from float32 is the same, but near ties may fall
// differently. Immutable, shared by executors.
class GpuWeights {
 public:
  // `model` must outlive the weights. Throws EngineError kOutOfMemory, kDeviceLost, and kDeviceUnavailable if the
  // device does not multiply matrices of the type.
  GpuWeights(const Transformer& model, ComputeType type, ggml_backend_dev_t backend_device);

  const GpuLinear& get(const Linear& linear) const { return linears_.at(&linear); }
  const GpuNorm& get(const LayerNorm& norm) const { return norms_.at(&norm); }
  // Relative position vectors [head_size, distances].
  ggml_tensor* get(const MatrixView& table) const { return tables_.at(&table); }
  std::size_t bytes() const noexcept { return ggml_backend_buffer_get_size(buffer_.get()); }
  ComputeType type() const noexcept { return type_; }

 private:
  void declare(const Transformer& model);
  void declare_linear(const Linear& linear);
  std::size_t part_rows(const MatrixView& matrix, ggml_type type) const;
  void declare_norm(const LayerNorm& norm);
  void declare_table(const MatrixView& table);
  void upload() const;

  ComputeType type_;
  ggml_backend_dev_t backend_device_;
  ggml_context_ptr context_;
  ggml_backend_buffer_ptr buffer_;
  std::unordered_map<const Linear*, GpuLinear> linears_;
  std::unordered_map<const LayerNorm*, GpuNorm> norms_;
  std::unordered_map<const MatrixView*, ggml_tensor*> tables_;
};

}  // namespace verbatim::transformer
