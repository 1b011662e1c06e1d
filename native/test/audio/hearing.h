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

// What the reader makes of a file.
namespace verbatim::test {

struct Heard {
  AudioInfo info;
  double seconds = 0;
  std::vector<float> samples;
};
// Measures and reads the whole file, in blocks of odd sizes; checks that both agree to a sample.
Heard hear(const std::filesystem::path& path);

// The code that opening, measuring or reading the file ends with; nothing when all goes well.
std::optional<ErrorCode> refusal(const std::filesystem::path& path, std::string* message = nullptr);

// Root mean square of the part of `samples` (16 kHz) that is at `hertz`, away from both ends.
double level_at(std::span<const float> samples, double hertz);
double level(std::span<const float> samples);

}  // namespace verbatim::test
