#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace verbatim::test {

// What a voice activity model with made-up weights detects as speech.
enum class Detection {
  // Anything louder than about -50 dBFS, frame by frame.
  kSound,
  kEverything,
  kNothing,
  // Random weights with a state, so that the result depends on earlier audio.
  kNoise,
};

// A tensor as its header describes it; the description may be wrong.
struct SileroTensor {
  std::string name;
  // A ggml_type, or an invalid number.
  std::int32_t type;
  std::array<std::int64_t, 4> dimensions;
};

// A file in Silero's format, in parts, so that a test can damage each of them.
struct SileroFile {
  std::int32_t frame = 512;
  std::int32_t context = 64;
  std::vector<std::int32_t> encoder = {4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3};
  std::vector<std::int32_t> decoder = {128, 128, 128, 1};
  std::string type = "silero-16k";
  Detection detection = Detection::kSound;
  // Called with each tensor before its header is written. A tensor whose name is cleared is left out. The values stay
  // those of the original.
  std::function<void(SileroTensor& tensor)> edit_tensor = [](SileroTensor&) {};

  void write(std::ostream& out) const;
  // Throws std::ios_base::failure.
  void write(const std::filesystem::path& path) const;
};

}  // namespace verbatim::test
