#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace verbatim::test {

// What a model of voice activity with made-up weights takes for speech.
enum class Hearing {
  // Whatever is louder than some -50 dBFS, frame by frame.
  kSound,
  kEverything,
  kNothing,
  // Weights of noise, whose state is of some length: shows what was kept of the past.
  kNoise,
};

// A tensor as its header tells of it, or lies.
struct SileroTensor {
  std::string name;
  // A ggml_type, or what is none.
  std::int32_t type;
  std::array<std::int64_t, 4> dimensions;
};

// A file in Silero's format, part by part, so that a test can spoil each.
struct SileroFile {
  std::int32_t frame = 512;
  std::int32_t context = 64;
  std::vector<std::int32_t> encoder = {4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3};
  std::vector<std::int32_t> decoder = {128, 128, 128, 1};
  std::string type = "silero-16k";
  Hearing hearing = Hearing::kSound;
  // Called with each tensor before its header is written; a tensor without a name is left out. The values
  // stay those of the original.
  std::function<void(SileroTensor& tensor)> edit_tensor = [](SileroTensor&) {};

  void write(std::ostream& out) const;
  // Throws std::ios_base::failure.
  void write(const std::filesystem::path& path) const;
};

}  // namespace verbatim::test
