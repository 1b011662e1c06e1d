#include "testing/audio_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>
#include <stdexcept>
#include <string>

namespace verbatim::test {

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

void patch(Bytes& bytes, std::size_t offset, const std::vector<int>& values) {
  require(offset + values.size() <= bytes.size(), "a patch reaches past the end");
  std::ranges::transform(values, bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                         [](int value) { return static_cast<std::uint8_t>(value); });
}

std::size_t find(const Bytes& bytes, std::string_view text) {
  const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  require(found != bytes.end(), "the bytes lack " + std::string(text));
  return static_cast<std::size_t>(found - bytes.begin());
}

std::vector<float> tone(double seconds, int rate, double hertz, double amplitude) {
  std::vector<float> samples(static_cast<std::size_t>(std::llround(seconds * rate)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(amplitude * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return samples;
}

std::filesystem::path write_audio(const std::filesystem::path& path, int format, int rate, int channels,
                                  std::span<const float> interleaved) {
  SF_INFO info{};
  info.format = format;
  info.samplerate = rate;
  info.channels = channels;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  require(file != nullptr, sf_strerror(nullptr));
  const auto frames = static_cast<sf_count_t>(interleaved.size()) / channels;
  // Written in pieces: libvorbis copies each write to the stack.
  for (sf_count_t at = 0; at < frames; at += 4096) {
    const sf_count_t count = std::min<sf_count_t>(4096, frames - at);
    require(sf_writef_float(file, interleaved.data() + at * channels, count) == count, sf_strerror(file));
  }
  sf_close(file);
  return path;
}

Bytes ogg_page(int flags, std::int64_t granule, std::uint32_t serial, std::uint32_t number, const Bytes& packet) {
  Bytes page = text_bytes("OggS");
  const auto append = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) page.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  append(0, 1);
  append(static_cast<std::uint64_t>(flags), 1);
  append(static_cast<std::uint64_t>(granule), 8);
  append(serial, 4);
  append(number, 4);
  append(0, 4);
  const std::size_t segments = packet.size() / 255 + 1;
  require(segments <= 255, "a packet is too long for one page");
  append(segments, 1);
  page.insert(page.end(), segments - 1, 255);
  append(packet.size() % 255, 1);
  page.insert(page.end(), packet.begin(), packet.end());
  std::uint32_t crc = 0;
  for (const std::uint8_t byte : page) {
    crc ^= static_cast<std::uint32_t>(byte) << 24;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc >> 31) != 0 ? 0x04C11DB7u : 0);
  }
  for (std::size_t i = 0; i < 4; ++i) page[22 + i] = static_cast<std::uint8_t>(crc >> (8 * i));
  return page;
}

}  // namespace verbatim::test
