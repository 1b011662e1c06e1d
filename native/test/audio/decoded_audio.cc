#include "audio/decoded_audio.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/sample_rate.h"

namespace verbatim::test {

DecodedAudio decode_file(const std::filesystem::path& path) {
  AudioReader reader(path);
  DecodedAudio decoded{.info = reader.info(), .samples = {}};
  std::vector<float> block(1);
  // The first part is read before measuring, which must not disturb it.
  const auto read = [&](std::size_t most) {
    while (decoded.samples.size() < most) {
      block.resize(block.size() % 7001 + 977);
      const std::size_t count = reader.read(block);
      decoded.samples.insert(decoded.samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
      if (count < block.size()) break;
    }
  };
  read(1000);
  std::optional<double> seconds;
  while (!seconds) seconds = reader.measure(0.001);
  read(static_cast<std::size_t>(-1) / 2);
  decoded.seconds = *seconds;
  CHECK(std::abs(static_cast<double>(decoded.samples.size()) - *seconds * kSampleRate) <= 1.0);
  CHECK(std::ranges::all_of(decoded.samples, [](float sample) { return std::isfinite(sample); }));
  return decoded;
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
