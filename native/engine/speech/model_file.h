#pragma once

#include <cstdint>
#include <iosfwd>

#include "speech/model_tensors.h"

namespace verbatim {

struct ModelFileInfo {
  ModelShape shape;
  // Bytes of tensor data.
  std::uint64_t weight_bytes = 0;
};

// Reads a ggml Whisper file (ggml-*.bin) from the stream's start to its end and checks everything that
// whisper.cpp takes on trust: it asserts, over-allocates or reads past the end on files that lie. Accepted
// are the files that whisper.cpp's own tools write for models of OpenAI's architecture: 1500 audio and 448
// text positions, 80 or 128 mel bands, a vocabulary of 51864 (English), 51865 or 51866, f32, f16 or
// quantized, with exactly the tensors that the header asks for. Tensor data is skipped, not read: memory and
// time do not grow with the file. Leaves the stream anywhere.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
ModelFileInfo check_model_file(std::istream& stream);

}  // namespace verbatim
