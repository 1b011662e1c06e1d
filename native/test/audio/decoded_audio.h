#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/reader.h"
#include "error.h"
#include "testing/audio_files.h"
#include "testing/temporary_directory.h"

// A file as the reader decodes it.
namespace verbatim::test {

struct DecodedAudio {
  AudioInfo info;
  double seconds = 0;
  std::vector<float> samples;
};
// Measures and reads the whole file in blocks of odd sizes; checks that both agree to a sample.
DecodedAudio decode_file(const std::filesystem::path& path);

// The error code of opening, measuring or reading the file; empty on success.
std::optional<ErrorCode> refusal(const std::filesystem::path& path, std::string* message = nullptr);

// Root mean square of the part of `samples` (16 kHz) at `hertz`, without both ends.
double level_at(std::span<const float> samples, double hertz);
double level(std::span<const float> samples);

}  // namespace verbatim::test
