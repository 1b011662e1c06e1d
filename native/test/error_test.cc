#include "error.h"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("error codes have the stable names the shell maps to HTTP") {
  CHECK(verbatim::error_code_name(verbatim::ErrorCode::kInvalidAudio) == "invalid_audio");
  CHECK(verbatim::error_code_name(verbatim::ErrorCode::kUnsupportedAudioFormat) ==
        "unsupported_audio_format");
  const verbatim::EngineError error(verbatim::ErrorCode::kAborted, "stopped");
  CHECK(std::string(error.what()) == "stopped");
  CHECK(error.code() == verbatim::ErrorCode::kAborted);
}
