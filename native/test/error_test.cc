#include "error.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace verbatim {
namespace {

using enum ErrorCode;

// The shell maps these names to HTTP statuses.
constexpr std::pair<ErrorCode, std::string_view> kNames[] = {
    {kUnsupportedAudioFormat, "unsupported_audio_format"},
    {kInvalidAudio, "invalid_audio"},
    {kUnsupportedLanguage, "unsupported_language"},
    {kInvalidModel, "invalid_model"},
    {kDeviceUnavailable, "device_unavailable"},
    {kDeviceLost, "device_lost"},
    {kOutOfMemory, "out_of_memory"},
    {kInvalidArgument, "invalid_argument"},
    {kAborted, "aborted"},
    {kIoError, "io_error"},
    {kInternalError, "internal_error"},
};

}  // namespace

TEST_CASE("every error code has its stable name") {
  int code = 0;
  for (const auto& [expected, name] : kNames) {
    CHECK(static_cast<int>(expected) == code++);
    CHECK(error_code_name(expected) == name);
  }
  // The table is complete: the code behind the last one has no name of its own.
  CHECK(error_code_name(static_cast<ErrorCode>(code)) == "internal_error");
}

TEST_CASE("an engine error keeps its code and its message") {
  const EngineError error(ErrorCode::kAborted, "stopped");
  CHECK(std::string(error.what()) == "stopped");
  CHECK(error.code() == ErrorCode::kAborted);
}

}  // namespace verbatim
