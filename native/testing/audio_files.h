#pragma once

#include <sndfile.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Writes audio files, and damages them. Failures throw std::runtime_error.
namespace verbatim::test {

using Bytes = std::vector<std::uint8_t>;

Bytes read_file(const std::filesystem::path& path);
Bytes joined(const Bytes& a, const Bytes& b);
Bytes text_bytes(std::string_view text);
// Overwrites bytes at `offset`.
void patch(Bytes& bytes, std::size_t offset, const std::vector<int>& values);
// Offset of the first occurrence.
std::size_t find(const Bytes& bytes, std::string_view text);

// A sine of `hertz`; amplitude in [0, 1].
std::vector<float> tone(double seconds, int rate, double hertz, double amplitude = 0.5);

// Writes interleaved samples with libsndfile. `format`: SF_FORMAT_*.
std::filesystem::path write_audio(const std::filesystem::path& path, int format, int rate, int channels,
                                  std::span<const float> interleaved);

// An OGG page with a valid checksum. `flags`: 1 continued, 2 first, 4 last.
Bytes ogg_page(int flags, std::int64_t granule, std::uint32_t serial, std::uint32_t number, const Bytes& packet);

}  // namespace verbatim::test
