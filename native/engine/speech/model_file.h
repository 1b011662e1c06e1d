#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

#include "speech/model_tensors.h"
#include "speech/stored_matrix.h"

namespace verbatim {

struct ModelFileInfo {
  ModelShape shape;
  // Bytes of tensor data.
  std::uint64_t weight_bytes = 0;
  // [mels][201], finite.
  std::vector<float> mel_filters;
  // Offset from the file's start to the number of listed tokens (int32). Each token follows as its length (uint32) and
  // its bytes.
  std::uint64_t vocabulary_offset = 0;
  std::unordered_map<std::string, StoredTensor> tensors;
};

// Number of text tokens of every Whisper model.
inline constexpr std::int32_t kLeastTokens = 50256;

// Whether float32 files are accepted. whisper.cpp loads them, but its convolutions end the process.
enum class Float32Files { kRefused, kAccepted };

// Reads a ggml Whisper file (ggml-*.bin) from start to end and checks everything that whisper.cpp does not: on wrong
// values whisper.cpp asserts, over-allocates or reads past the end.
//
// Accepted are files of OpenAI's architecture as whisper.cpp's tools write them: 1500 audio and 448 text positions, 80
// or 128 mel bands, a vocabulary of 51864 (English), 51865 or 51866 tokens, f16, quantized or (if accepted) f32, with
// exactly the tensors that the header implies. Tensor data is skipped, so that memory and time do not grow with the
// file. The stream's position afterwards is unspecified.
//
// least_tokens: least number of listed tokens. A fuzzer passes less than Whisper's number.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
ModelFileInfo check_model_file(std::istream& stream, Float32Files float32 = Float32Files::kRefused,
                               std::int32_t least_tokens = kLeastTokens);

// Throws EngineError kIoError unless the path is a regular file.
void require_model_file(const std::filesystem::path& path);

}  // namespace verbatim
