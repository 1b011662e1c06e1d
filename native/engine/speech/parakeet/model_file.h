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
  // Positions of the encoder, each at most 100.
  std::vector<std::int32_t> durations;
  // As SentencePiece has them, without the blank.
  std::vector<std::string> pieces;
  std::unordered_map<std::string, StoredTensor> tensors;
};

// Whether the stream begins as a ggml file of a Parakeet model does; any other file is not one, however it
// goes on. It has the magic number of every ggml file: what tells is that the fields agree where a Parakeet
// file repeats itself. Leaves the stream anywhere.
bool is_parakeet_file(std::istream& stream);

// Reads a ggml Parakeet TDT file (ggml-parakeet-tdt-*.bin) from the stream's start to its end and checks
// everything that whisper.cpp takes on trust: it asserts, over-allocates, never ends or reads past the end on
// files that lie. Accepted are the files that whisper.cpp's own tools write: f32, f16 or quantized, with
// exactly the tensors that the header asks for. Tensor data is skipped, not read: memory and time do not grow
// with the file. Leaves the stream anywhere.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
ModelFileInfo check_model_file(std::istream& stream);

}  // namespace verbatim::parakeet
