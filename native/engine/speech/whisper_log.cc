#include "speech/whisper_log.h"

#include <parakeet.h>
#include <whisper.h>

#include <mutex>
#include <utility>

namespace verbatim {
namespace {

// whisper.cpp has one log callback per family for the whole process. It is called on the thread that does the work.
thread_local std::string last_error;

void keep_errors(ggml_log_level level, const char* text, void* /*unused*/) {
  if (level != GGML_LOG_LEVEL_ERROR || text == nullptr) return;
  try {
    last_error = text;
    while (!last_error.empty() && last_error.back() == '\n') last_error.pop_back();
  } catch (...) {
    last_error.clear();
  }
}

}  // namespace

void capture_whisper_log() {
  static std::once_flag once;
  std::call_once(once, [] {
    whisper_log_set(keep_errors, nullptr);
    parakeet_log_set(keep_errors, nullptr);
  });
}

std::unique_lock<std::mutex> lock_whisper_start() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

std::string take_whisper_error() { return std::exchange(last_error, {}); }

}  // namespace verbatim
