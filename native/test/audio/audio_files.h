#pragma once

#include <sndfile.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/reader.h"
#include "error.h"

// Audio files made in a temporary directory, and ways to spoil them, for the tests of audio/.
namespace verbatim::test {

using Bytes = std::vector<std::uint8_t>;

// A directory of its own; gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // Writes the bytes to a file in it.
  std::filesystem::path put(const std::string& name, const Bytes& bytes) const;

 private:
  std::filesystem::path path_;
};

Bytes read_file(const std::filesystem::path& path);
Bytes joined(const Bytes& a, const Bytes& b);
Bytes text_bytes(std::string_view text);
// Overwrites bytes at `offset`.
void patch(Bytes& bytes, std::size_t offset, const std::vector<int>& values);
// Offset of the first occurrence; fails the test when there is none.
std::size_t find(const Bytes& bytes, std::string_view text);

// A sine of `hertz`; amplitude in [0, 1].
std::vector<float> tone(double seconds, int rate, double hertz, double amplitude = 0.5);

// Writes interleaved samples by libsndfile. `format`: SF_FORMAT_*.
std::filesystem::path write_audio(const std::filesystem::path& path, int format, int rate, int channels,
                                  std::span<const float> interleaved);

// A page of OGG with a right checksum; `flags`: 1 continued, 2 first, 4 last.
Bytes ogg_page(int flags, std::int64_t granule, std::uint32_t serial, std::uint32_t number,
               const Bytes& packet);

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
