#include "audio/decoding/decoder.h"

#include <array>
#include <string>

#include "error.h"

namespace verbatim {

std::int64_t Decoder::skip() {
  std::array<float, 4096> scratch;
  return static_cast<std::int64_t>(read(scratch));
}

void check_format(std::int64_t sample_rate, int channels) {
  if (sample_rate < 4000 || sample_rate > 384000) {
    throw EngineError(ErrorCode::kInvalidAudio,
                      "the sample rate is " + std::to_string(sample_rate) + " Hz; 4,000 to 384,000 Hz are allowed");
  }
  if (channels < 1 || channels > 32) {
    throw EngineError(ErrorCode::kInvalidAudio,
                      "the file has " + std::to_string(channels) + " channels; 1 to 32 are allowed");
  }
}

}  // namespace verbatim
