#pragma once

#include <ggml-backend.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "speech/whisper/model/model_reader.h"

namespace verbatim::whisper {

struct GgmlDeleter {
  void operator()(ggml_context* context) const noexcept { ggml_free(context); }
  void operator()(ggml_backend_buffer* buffer) const noexcept { ggml_backend_buffer_free(buffer); }
};
template <typename T>
using GgmlPointer = std::unique_ptr<T, GgmlDeleter>;

struct NormTensors {
  ggml_tensor* gain = nullptr;
  ggml_tensor* bias = nullptr;
};

struct LinearTensors {
  ggml_tensor* weight = nullptr;  // [inputs, outputs]
  ggml_tensor* bias = nullptr;    // [outputs]
};

struct EncoderLayerTensors {
  NormTensors attention_norm;
  // Query, key (its bias is zeros) and value stacked: [d, 3d].
  LinearTensors qkv;
  LinearTensors out;
  NormTensors feed_forward_norm;
  LinearTensors up;
  LinearTensors down;
};

// Where weights are kept, and in what type.
struct WeightPlacement {
  // The device that computes with them; null for the CPU. Matrices of a type that it does not multiply become float16.
  ggml_backend_dev_t device = nullptr;
  // Buffers of vectors, positions and kernels. Of matrices too, unless ggml's CPU backend has faster buffers of its
  // own; those are not used with a device.
  ggml_backend_buffer_type_t buffers = nullptr;
  // Matrices become float32 instead of keeping their stored type.
  bool as_float32 = false;
};

// The weights of Whisper's encoder, and the decoder layers' projections of the encoder's output. Immutable; shared by
// encoders.
class EncoderWeights {
 public:
  // Copies from the reader's file. Throws EngineError kOutOfMemory, kInternalError.
  EncoderWeights(const ModelReader& reader, const WeightPlacement& placement);

  // Kernels of the convolutions: [3 * inputs, outputs], the inputs of one frame behind those of the frame before.
  LinearTensors first_convolution;
  LinearTensors second_convolution;
  ggml_tensor* positions = nullptr;  // [d, 1500]
  std::vector<EncoderLayerTensors> layers;
  NormTensors final_norm;
  // For each decoder layer, keys (their bias is zeros) and values of cross-attention stacked: [d, 2d].
  std::vector<LinearTensors> cross;
  // Whether products support operands with overlapping rows: those in plain memory do.
  bool takes_overlapping_rows = true;
  // Whether what computes has flash attention for heads of this size.
  bool has_flash_attention = true;
  // Whether products sum in float32, too.
  bool in_float32 = false;

  std::size_t bytes() const noexcept;

 private:
  class Builder;

  GgmlPointer<ggml_context> plain_context_, matrix_context_;
  GgmlPointer<ggml_backend_buffer> plain_, matrices_;
};

}  // namespace verbatim::whisper
