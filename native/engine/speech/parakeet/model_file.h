#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

#include "speech/parakeet/model_tensors.h"
#include "speech/stored_matrix.h"

namespace verbatim::parakeet {

struct ModelFileInfo {
  ModelShape shape;
  // Bytes of tensor data.
  std::uint64_t weight_bytes = 0;
  // [mels][fft / 2 + 1], finite.
  std::vector<float> mel_filters;
  // At most fft values, finite.
  std::vector<float> window;
  // Encoder positions, each at most 100.
  std::vector<std::int32_t> durations;
  // Spelled as in SentencePiece, without the blank.
  std::vector<std::string> pieces;
  std::unordered_map<std::string, StoredTensor> tensors;
};

// Whether the stream begins like a ggml file of a Parakeet model. Any other file is not one, however it continues. All
// ggml files share one magic number, so this compares the fields that a Parakeet file repeats. The stream's position
// afterwards is unspecified.
bool is_parakeet_file(std::istream& stream);

// Reads a ggml Parakeet TDT file (ggml-parakeet-tdt-*.bin) from start to end and checks everything that whisper.cpp
// does not: on wrong values whisper.cpp asserts, over-allocates, loops for ever or reads past the end.
//
// Accepted are files as whisper.cpp's tools write them: f32, f16 or quantized, with exactly the tensors that the header
// implies. Tensor data is skipped, so that memory and time do not grow with the file. The stream's position afterwards
// is unspecified.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
ModelFileInfo check_model_file(std::istream& stream);

}  // namespace verbatim::parakeet
