#pragma once

#include <ggml-backend.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/whisper/model_reader.h"

namespace verbatim::whisper {

struct GgmlDeleter {
  void operator()(ggml_context* context) const noexcept { ggml_free(context); }
  void operator()(ggml_backend* backend) const noexcept { ggml_backend_free(backend); }
  void operator()(ggml_backend_buffer* buffer) const noexcept { ggml_backend_buffer_free(buffer); }
  void operator()(ggml_backend_sched* scheduler) const noexcept { ggml_backend_sched_free(scheduler); }
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
  // Query, key (whose bias is zeros) and value stacked: [d, 3d].
  LinearTensors qkv;
  LinearTensors out;
  NormTensors feed_forward_norm;
  LinearTensors up;
  LinearTensors down;
};

// Where and as what weights are kept.
struct WeightPlacement {
  // What computes with them; null for the CPU, with the accelerator or without. Matrices whose type it does
  // not multiply become float16.
  ggml_backend_dev_t device = nullptr;
  // Of vectors, positions and kernels; of matrices too unless they are packed, or ggml's CPU backend has
  // faster ones of its own (with a device it is not asked).
  ggml_backend_buffer_type_t buffers = nullptr;
  // Matrices are packed for its products; may be null.
  std::shared_ptr<accelerator::WeightStore> accelerator;
  // Matrices that are not packed become float32 instead of staying as they are stored.
  bool as_float32 = false;
};

// What Whisper's encoder multiplies with, and of the decoder's layers the projections of the encoder's
// output. Immutable; shared by encoders.
class EncoderWeights {
 public:
  // Copies out of the reader's file. Throws EngineError kOutOfMemory, kInternalError.
  EncoderWeights(const ModelReader& reader, const WeightPlacement& placement);

  // Kernels of the convolutions: [3 * inputs, outputs], the inputs of one frame behind those of the one
  // before.
  LinearTensors first_convolution;
  LinearTensors second_convolution;
  ggml_tensor* positions = nullptr;  // [d, 1500]
  std::vector<EncoderLayerTensors> layers;
  NormTensors final_norm;
  // For each layer of the decoder, keys (whose bias is zeros) and values of cross-attention stacked: [d, 2d].
  std::vector<LinearTensors> cross;
  // Whether products take operands whose rows overlap: the accelerator and plain memory do.
  bool takes_overlapping_rows = true;

  std::size_t bytes() const noexcept;

 private:
  class Builder;

  GgmlPointer<ggml_context> plain_context_, matrix_context_;
  GgmlPointer<ggml_backend_buffer> plain_, matrices_;
};

}  // namespace verbatim::whisper
