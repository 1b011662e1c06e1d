#include "audio/audio_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>

namespace verbatim::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "verbatim-test-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryDirectory::put(const std::string& name, const Bytes& bytes) const {
  std::ofstream out(path_ / name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
  return path_ / name;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

void patch(Bytes& bytes, std::size_t offset, const std::vector<int>& values) {
  REQUIRE(offset + values.size() <= bytes.size());
  std::ranges::transform(values, bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                         [](int value) { return static_cast<std::uint8_t>(value); });
}

std::size_t find(const Bytes& bytes, std::string_view text) {
  const auto found = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  REQUIRE(found != bytes.end());
  return static_cast<std::size_t>(found - bytes.begin());
}

std::vector<float> tone(double seconds, int rate, double hertz, double amplitude) {
  std::vector<float> samples(static_cast<std::size_t>(std::llround(seconds * rate)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(amplitude *
                                    std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
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
  REQUIRE_MESSAGE(file != nullptr, sf_strerror(nullptr));
  const auto frames = static_cast<sf_count_t>(interleaved.size()) / channels;
  // In pieces: libvorbis keeps what it gets at once on the stack.
  for (sf_count_t at = 0; at < frames; at += 4096) {
    const sf_count_t count = std::min<sf_count_t>(4096, frames - at);
    CHECK(sf_writef_float(file, interleaved.data() + at * channels, count) == count);
  }
  sf_close(file);
  return path;
}

Bytes ogg_page(int flags, std::int64_t granule, std::uint32_t serial, std::uint32_t number,
               const Bytes& packet) {
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
  REQUIRE(segments <= 255);
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

Heard hear(const std::filesystem::path& path) {
  AudioReader reader(path);
  Heard heard{.info = reader.info(), .samples = {}};
  std::vector<float> block(1);
  // The first part of the reading comes before the measuring, which must not disturb it.
  const auto read = [&](std::size_t most) {
    while (heard.samples.size() < most) {
      block.resize(block.size() % 7001 + 977);
      const std::size_t count = reader.read(block);
      heard.samples.insert(heard.samples.end(), block.begin(),
                           block.begin() + static_cast<std::ptrdiff_t>(count));
      if (count < block.size()) break;
    }
  };
  read(1000);
  std::optional<double> seconds;
  while (!seconds) seconds = reader.measure(0.001);
  read(static_cast<std::size_t>(-1) / 2);
  heard.seconds = *seconds;
  CHECK(std::abs(static_cast<double>(heard.samples.size()) - *seconds * kSampleRate) <= 1.0);
  CHECK(std::ranges::all_of(heard.samples, [](float sample) { return std::isfinite(sample); }));
  return heard;
}

std::optional<ErrorCode> refusal(const std::filesystem::path& path, std::string* message) {
  try {
    AudioReader reader(path);
    while (!reader.measure(1)) {
    }
    std::vector<float> block(4096);
    while (reader.read(block) > 0) {
    }
    return std::nullopt;
  } catch (const EngineError& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

double level_at(std::span<const float> samples, double hertz) {
  const std::size_t skip = samples.size() / 4;
  double real = 0;
  double imaginary = 0;
  double weight = 0;
  for (std::size_t i = skip; i < samples.size() - skip; ++i) {
    const double phase = 2 * std::numbers::pi * hertz * static_cast<double>(i) / kSampleRate;
    const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i - skip) /
                                               static_cast<double>(samples.size() - 2 * skip));
    real += window * samples[i] * std::cos(phase);
    imaginary += window * samples[i] * std::sin(phase);
    weight += window;
  }
  return std::numbers::sqrt2 * std::hypot(real, imaginary) / weight;
}

double level(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

}  // namespace verbatim::test
