#pragma once

#include <mutex>
#include <string>

namespace verbatim {

// Redirects whisper.cpp's and ggml's log: nothing is printed, and each thread's last error line is kept, because the C
// API reports the cause nowhere else. Idempotent and thread-safe. Must be called before any other use of whisper.cpp.
void capture_whisper_log();

// The last error line on the calling thread since the last call, without its line end. Empty if there was none.
std::string take_whisper_error();

// To be held while whisper.cpp makes a context or a state: each sets ggml's log callback, one for the whole process,
// without a lock of its own.
[[nodiscard]] std::unique_lock<std::mutex> lock_whisper_start();

}  // namespace verbatim
