#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace verbatim {

// The errors of the engine. Their names (error_code_name) are stable: the shell maps them to HTTP statuses.
enum class ErrorCode {
  // The bytes are not decodable WAV, FLAC, MP3 or OGG audio.
  kUnsupportedAudioFormat,
  // A supported container, but broken, empty, or without samples.
  kInvalidAudio,
  // A language the model does not know.
  kUnsupportedLanguage,
  // A model file that is wrong, truncated, hostile or of an unsupported kind; the message names the fault.
  kInvalidModel,
  // A device that is not built in or not available.
  kDeviceUnavailable,
  // A device that failed while it computed; the process cannot use it any more.
  kDeviceLost,
  kOutOfMemory,
  // An argument out of its documented range.
  kInvalidArgument,
  // The caller aborted the work.
  kAborted,
  // The file system refused.
  kIoError,
  // A bug of this engine or of a library.
  kInternalError,
};

// "unsupported_audio_format", "invalid_audio", ...; never null.
std::string_view error_code_name(ErrorCode code) noexcept;

// The only exception type that the engine throws on purpose.
class EngineError : public std::runtime_error {
 public:
  EngineError(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace verbatim
