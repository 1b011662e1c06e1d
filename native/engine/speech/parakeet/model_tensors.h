#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "speech/model_tensors.h"

namespace verbatim::parakeet {

// The header of a ggml Parakeet file, in file order (15 little-endian int32 after the magic).
struct ModelShape {
  // Number of text pieces; the blank comes after them.
  std::int32_t vocabulary = 0;
  // Longest input of the encoder, in frames of 10 ms.
  std::int32_t audio_context = 0;
  // Width of the encoder.
  std::int32_t state = 0;
  std::int32_t heads = 0;
  std::int32_t layers = 0;
  std::int32_t mels = 0;
  // ggml file type, without the quantization version.
  std::int32_t file_type = 0;
  std::int32_t fft = 0;
  // Frames per encoder position.
  std::int32_t subsampling = 0;
  std::int32_t subsampling_channels = 0;
  // Width of the depthwise convolution's kernel, in positions.
  std::int32_t kernel = 0;
  // Width of the prediction network's LSTM and of the joint network.
  std::int32_t prediction_state = 0;
  std::int32_t prediction_layers = 0;
  std::int32_t durations = 0;
  // Most tokens at one encoder position.
  std::int32_t most_tokens = 0;

  // Outputs of the joint network: every piece, the blank, every duration.
  std::int32_t outputs() const noexcept { return vocabulary + 1 + durations; }
  // Values of a position at the input of the encoder's first layer.
  std::int32_t features() const noexcept { return mels / 8 * subsampling_channels; }
};

// The number of batches that a normalization was trained with: a single number, which nothing reads. NeMo's converter
// writes it without a dimension and as f32, though it is stored as i32.
inline constexpr const char* kBatchCount = "conv.batch_norm.num_batches_tracked";

// Type of the prediction and joint network's matrices: the other matrices' type if its block size divides their rows,
// else f32.
ggml_type prediction_type(const ModelShape& shape) noexcept;

// Every tensor of a Parakeet TDT model of this shape, by name: the table in whisper.cpp's parakeet_model_load.
std::unordered_map<std::string, TensorShape> expected_tensors(const ModelShape& shape);

// Number of values of all tensors, whatever their types.
std::uint64_t count_values(const ModelShape& shape);

}  // namespace verbatim::parakeet
