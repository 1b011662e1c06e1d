#include "audio/decoder.h"

#include <array>
#include <string>

#include "error.h"

namespace verbatim {

std::int64_t Decoder::skip() {
  std::array<float, 4096> scratch;
  return static_cast<std::int64_t>(read(scratch));
}

void check_format(const AudioInfo& info) {
  if (info.sample_rate < 4000 || info.sample_rate > 384000) {
    throw EngineError(ErrorCode::kInvalidAudio, "the sample rate is " + std::to_string(info.sample_rate) +
                                                    " Hz; 4,000 to 384,000 Hz are allowed");
  }
  if (info.channels < 1 || info.channels > 32) {
    throw EngineError(ErrorCode::kInvalidAudio,
                      "the file has " + std::to_string(info.channels) + " channels; 1 to 32 are allowed");
  }
}

}  // namespace verbatim
