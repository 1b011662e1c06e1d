#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace verbatim {

// What may go wrong in the engine. The names (error_code_name) are stable: the shell maps them to HTTP
// statuses.
enum class ErrorCode {
  // The bytes are not WAV, FLAC, MP3 or OGG audio that can be decoded.
  kUnsupportedAudioFormat,
  // The right container, but broken, empty, or without samples.
  kInvalidAudio,
  // A language the model does not know.
  kUnsupportedLanguage,
  // A model file that is wrong, truncated, hostile or of an unsupported kind; the message names what is
  // wrong.
  kInvalidModel,
  // A device that was not built in or is not there.
  kDeviceUnavailable,
  kOutOfMemory,
  // An argument out of its documented range.
  kInvalidArgument,
  // The caller aborted the work.
  kAborted,
  // The file system refused.
  kIoError,
  // A bug, ours or a library's.
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
