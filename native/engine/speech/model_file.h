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
  // Of the number of listed tokens (int32), from the file's start; each follows as its length (uint32) and
  // its bytes.
  std::uint64_t vocabulary_offset = 0;
  std::unordered_map<std::string, StoredTensor> tensors;
};

// Text tokens of every Whisper model.
inline constexpr std::int32_t kLeastTokens = 50256;

// Whether files of float32 weights are wanted: whisper.cpp loads them, but its convolutions end the process.
enum class Float32Files { kRefused, kAccepted };

// Reads a ggml Whisper file (ggml-*.bin) from the stream's start to its end and checks everything that
// whisper.cpp takes on trust: it asserts, over-allocates or reads past the end on files that lie. Accepted
// are the files that whisper.cpp's own tools write for models of OpenAI's architecture: 1500 audio and 448
// text positions, 80 or 128 mel bands, a vocabulary of 51864 (English), 51865 or 51866, f16, quantized or,
// where they are wanted, f32, with exactly the tensors that the header asks for. Tensor data is skipped, not
// read: memory and time do not grow with the file. Leaves the stream anywhere. A vocabulary lists at least
// `least_tokens`; fewer than Whisper's are for those who read many files that are none.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
ModelFileInfo check_model_file(std::istream& stream, Float32Files float32 = Float32Files::kRefused,
                               std::int32_t least_tokens = kLeastTokens);

// Throws EngineError kIoError unless there is a regular file.
void require_model_file(const std::filesystem::path& path);

}  // namespace verbatim
