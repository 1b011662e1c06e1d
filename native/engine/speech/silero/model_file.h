#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "speech/model_tensors.h"

namespace verbatim::silero {

// Every tensor that a Silero file for 16 kHz has, by name: the table in whisper.cpp's VAD loader, with the
// sizes that its graph takes for granted.
const std::map<std::string, TensorShape>& expected_tensors();

// Whether the stream begins as a ggml file of a Silero model does; any other file is not one, however it
// ends. Leaves the stream anywhere.
bool is_silero_file(std::istream& stream);

// Reads a ggml Silero file (ggml-silero-*.bin, of 16 kHz) from the stream's start to its end and checks
// everything that whisper.cpp takes on trust: it allocates by the sizes that the header gives, and its graph
// knows one architecture only. Tensor data is skipped, not read. Leaves the stream anywhere.
//
// Throws EngineError kInvalidModel with a message that names what is wrong and what was expected.
void check_model_file(std::istream& stream);

}  // namespace verbatim::silero
