#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

#include "speech/model_tensors.h"

namespace verbatim::silero {

// Every tensor of a Silero file for 16 kHz, by name: the table in whisper.cpp's VAD loader, with the sizes that its
// graph assumes.
const std::map<std::string, TensorShape>& expected_tensors();

// Whether the stream begins like a ggml file of a Silero model. Any other file is not one, however it ends. The
// stream's position afterwards is unspecified.
bool is_silero_file(std::istream& stream);

// Reads a ggml Silero file (ggml-silero-*.bin, 16 kHz) from start to end and checks that it is of the one architecture
// that is computed. Tensor data is skipped. The stream's position afterwards is unspecified. Returns the offset of each
// tensor's values from the file's start.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
std::map<std::string, std::uint64_t> check_model_file(std::istream& stream);

}  // namespace verbatim::silero
