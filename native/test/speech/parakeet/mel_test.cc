#include "speech/parakeet/mel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "speech/random_models/noise.h"

namespace verbatim::parakeet {
namespace {

constexpr int kFft = 64;
constexpr int kBands = 3;
constexpr int kFrequencies = kFft / 2 + 1;

// Overlapping triangles; the last one covers frequencies that noise has.
std::vector<float> filters() {
  std::vector<float> values(kBands * kFrequencies);
  for (int band = 0; band < kBands; ++band) {
    for (int i = 0; i < kFrequencies; ++i) {
      const double distance = std::abs(i - 8.0 * (band + 1)) / 6.0;
      values[static_cast<std::size_t>(band * kFrequencies + i)] = static_cast<float>(std::max(0.0, 1.0 - distance));
    }
  }
  return values;
}

std::vector<float> window() {
  std::vector<float> values(50);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / 50.0));
  }
  return values;
}

// By the definition, in double precision: [frames][bands].
std::vector<double> by_definition(const std::vector<float>& samples) {
  const auto lead = static_cast<std::ptrdiff_t>(kFft / 2);
  const auto count = static_cast<std::ptrdiff_t>(samples.size());
  const auto lifted = [&](std::ptrdiff_t i) {
    if (i < 0 || i >= count) return 0.0;
    const double before = i > 0 ? static_cast<double>(samples[static_cast<std::size_t>(i - 1)]) : 0.0;
    return static_cast<double>(samples[static_cast<std::size_t>(i)]) - 0.97 * before;
  };
  const std::vector<float> shape = window();
  const std::vector<float> weights = filters();
  const auto margin = (kFft - static_cast<int>(shape.size())) / 2;
  const auto frames = count / kMelHop + 1;
  std::vector<double> values;
  for (std::ptrdiff_t frame = 0; frame < frames; ++frame) {
    std::vector<double> power;
    for (int k = 0; k < kFrequencies; ++k) {
      double real = 0.0;
      double imaginary = 0.0;
      for (int j = 0; j < static_cast<int>(shape.size()); ++j) {
        const double value =
            static_cast<double>(shape[static_cast<std::size_t>(j)]) * lifted(frame * kMelHop - lead + margin + j);
        const double angle = 2 * std::numbers::pi * k * (margin + j) / kFft;
        real += value * std::cos(angle);
        imaginary -= value * std::sin(angle);
      }
      power.push_back(real * real + imaginary * imaginary);
    }
    for (int band = 0; band < kBands; ++band) {
      double sum = 0.0;
      for (int k = 0; k < kFrequencies; ++k) {
        sum += static_cast<double>(weights[static_cast<std::size_t>(band * kFrequencies + k)]) *
               power[static_cast<std::size_t>(k)];
      }
      values.push_back(std::log(sum + std::pow(2.0, -24)));
    }
  }
  // The last frame is centred behind the end of the samples, unless these are a whole number of hops.
  const auto whole = static_cast<std::size_t>(count / kMelHop);
  for (std::size_t band = 0; band < kBands; ++band) {
    double mean = 0.0;
    double variance = 0.0;
    for (std::size_t i = 0; i < whole; ++i) mean += values[i * kBands + band] / static_cast<double>(whole);
    for (std::size_t i = 0; i < whole; ++i) {
      variance += std::pow(values[i * kBands + band] - mean, 2) / static_cast<double>(whole - 1);
    }
    for (std::size_t i = band; i < values.size(); i += kBands) {
      values[i] = (values[i] - mean) / (std::sqrt(variance) + 1e-5);
    }
  }
  return values;
}

}  // namespace

TEST_CASE("Parakeet's features match their definition") {
  const MelExtractor extractor(filters(), window(), kBands, kFft);
  for (const std::size_t size : {1760u, 1919u, 4801u, 16000u}) {
    const std::vector<float> samples = random_models::noise(size, static_cast<std::uint32_t>(size));
    const MelSpectrogram mel = extractor.spectrogram(samples);
    const std::vector<double> expected = by_definition(samples);
    CHECK(mel.bands == kBands);
    CHECK(mel.frames == static_cast<int>(size) / kMelHop + 1);
    REQUIRE(mel.values.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::abs(static_cast<double>(mel.values[i]) - expected[i]) < 1e-3);
    }
  }
}

TEST_CASE("whatever the samples, Parakeet's features are finite") {
  const MelExtractor extractor(filters(), window(), kBands, kFft);
  for (const float sample : {0.0f, std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f}) {
    for (const float value : extractor.spectrogram(std::vector<float>(3200, sample)).values) {
      CHECK(std::isfinite(value));
    }
  }
}

}  // namespace verbatim::parakeet
