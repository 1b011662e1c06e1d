#include "error.h"

namespace verbatim {

std::string_view error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kUnsupportedAudioFormat:
      return "unsupported_audio_format";
    case ErrorCode::kInvalidAudio:
      return "invalid_audio";
    case ErrorCode::kUnsupportedLanguage:
      return "unsupported_language";
    case ErrorCode::kInvalidModel:
      return "invalid_model";
    case ErrorCode::kDeviceUnavailable:
      return "device_unavailable";
    case ErrorCode::kDeviceLost:
      return "device_lost";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kAborted:
      return "aborted";
    case ErrorCode::kIoError:
      return "io_error";
    case ErrorCode::kInternalError:
      return "internal_error";
  }
  return "internal_error";
}

}  // namespace verbatim
