#pragma once

#include <ggml.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace verbatim {

// The header of a ggml Whisper file, in file order (11 little-endian int32 after the magic).
struct ModelShape {
  std::int32_t vocabulary = 0;
  std::int32_t audio_context = 0;
  std::int32_t audio_state = 0;
  std::int32_t audio_heads = 0;
  std::int32_t audio_layers = 0;
  std::int32_t text_context = 0;
  std::int32_t text_state = 0;
  std::int32_t text_heads = 0;
  std::int32_t text_layers = 0;
  std::int32_t mels = 0;
  // ggml file type, without the quantization version.
  std::int32_t file_type = 0;

  bool multilingual() const noexcept { return vocabulary >= 51865; }
  // Language tokens of the model; English-only models have one language.
  int languages() const noexcept { return multilingual() ? vocabulary - 51766 : 1; }
};

struct TensorShape {
  // Fastest-running dimension first, as in ggml; unused ones are 1.
  std::array<std::int64_t, 4> dimensions{1, 1, 1, 1};
  ggml_type type = GGML_TYPE_F32;

  std::uint64_t bytes() const noexcept;
  // "[384, 51865] of type f16"
  std::string describe() const;
};

// Type of the two-dimensional weights for a file type of Whisper models (f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k
// .. q6_k); GGML_TYPE_COUNT for any other.
ggml_type weight_type(std::int32_t file_type) noexcept;

// Every tensor of a Whisper model of this shape, by name: the table in whisper.cpp's whisper_model_load.
std::unordered_map<std::string, TensorShape> expected_tensors(const ModelShape& shape);

}  // namespace verbatim
