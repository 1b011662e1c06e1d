#pragma once

#include <string>

namespace verbatim {

// Takes whisper.cpp's and ggml's log over: nothing is printed, and the last error line of a thread is kept,
// because the C API reports what went wrong nowhere else. Idempotent and thread-safe; called before any other
// use of whisper.cpp.
void capture_whisper_log();

// The last error line on the calling thread since the last call, without its line end; empty if there was
// none.
std::string take_whisper_error();

}  // namespace verbatim
