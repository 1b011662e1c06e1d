#include "speech/parakeet/subsampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "speech/random_models/noise.h"

namespace verbatim::parakeet {
namespace {

constexpr std::int64_t kChannels = 5;
constexpr std::int64_t kBands = 16;
constexpr std::int64_t kState = 7;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

// [rows][bands][channels]
struct Plane {
  std::int64_t rows, bands, channels;
  std::vector<double> values;
  double at(std::int64_t row, std::int64_t band, std::int64_t channel) const {
    if (row < 0 || row >= rows || band < 0 || band >= bands) return 0.0;
    return values[size_of((row * bands + band) * channels + channel)];
  }
};

// Every second row and band, from `inputs` inputs to every channel. kernel(channel, tap): the weight of the input that
// it reads.
template <typename Kernel>
Plane convolved(const Plane& from, bool is_first, const Kernel& kernel, const std::vector<float>& bias) {
  Plane to{(from.rows + 1) / 2, from.bands / 2, kChannels, {}};
  for (std::int64_t row = 0; row < to.rows; ++row) {
    for (std::int64_t band = 0; band < to.bands; ++band) {
      for (std::int64_t channel = 0; channel < kChannels; ++channel) {
        double sum = bias[size_of(channel)];
        for (std::int64_t tap = 0; tap < 9; ++tap) {
          sum += static_cast<double>(kernel(channel, tap)) *
                 from.at(2 * row - 1 + tap / 3, 2 * band - 1 + tap % 3, is_first ? 0 : channel);
        }
        to.values.push_back(is_first ? std::max(sum, 0.0) : sum);
      }
    }
  }
  return to;
}

Plane mixed(const Plane& from, const std::vector<float>& weights, std::span<const float> bias) {
  Plane to{from.rows, from.bands, kChannels, {}};
  for (std::int64_t place = 0; place < from.rows * from.bands; ++place) {
    for (std::int64_t channel = 0; channel < kChannels; ++channel) {
      double sum = bias[size_of(channel)];
      for (std::int64_t input = 0; input < kChannels; ++input) {
        sum += static_cast<double>(weights[size_of(channel * kChannels + input)]) *
               from.values[size_of(place * kChannels + input)];
      }
      to.values.push_back(std::max(sum, 0.0));
    }
  }
  return to;
}

transformer::MatrixView view_of(const std::vector<float>& values, std::int64_t rows) {
  transformer::MatrixView view;
  view.rows = size_of(rows);
  view.columns = values.size() / size_of(rows);
  view.data = std::as_bytes(std::span(values));
  return view;
}

}  // namespace

TEST_CASE("subsampling in chunks equals the convolutions of the whole, at every length") {
  using namespace transformer;
  const auto values = [](std::int64_t count, std::uint32_t seed) { return random_models::noise(size_of(count), seed); };
  const std::vector<float> first = values(kChannels * 9, 1);
  const std::vector<float> second_mix = values(kChannels * kChannels, 2);
  const std::vector<float> third_mix = values(kChannels * kChannels, 3);
  const std::int64_t features = kBands / 8 * kChannels;
  const std::vector<float> out = values(kState * features, 4);
  std::vector<ProductFormat> formats{{ComputeType::kFloat32, nullptr}};
  if (auto store = accelerator::make_weight_store(AcceleratorMode::kFloat32)) {
    formats.push_back(accelerated_format(std::move(store)));
  }
  for (const ProductFormat& format : formats) {
    CAPTURE(format_name(format));
    WeightMemory memory(1 << 20);
    const auto pack = [&](const std::vector<float>& rows, std::int64_t outputs, std::uint32_t seed) {
      return pack_linear({view_of(rows, outputs), values(outputs, seed)}, format, memory);
    };
    SubsamplingWeights weights;
    weights.first = PackedMatrix(view_of(first, kChannels), ComputeType::kFloat32, memory);
    weights.first_bias = values(kChannels, 5);
    weights.second = values(9 * kChannels, 6);
    weights.second_bias = values(kChannels, 7);
    weights.third = values(9 * kChannels, 8);
    weights.third_bias = values(kChannels, 9);
    weights.second_mix = pack(second_mix, kChannels, 10);
    weights.third_mix = pack(third_mix, kChannels, 11);
    weights.out = pack(out, kState, 12);

    for (const int threads : {1, 2}) {
      EncoderLayers layers(format, kernels(), {64, 2}, threads);
      Subsampling subsampling(weights, layers, kernels(), threads);
      // Chunks have 32 positions of eight frames.
      for (const int frames : {11, 255, 256, 257, 264, 600}) {
        CAPTURE(frames);
        const MelSpectrogram mel{frames, kBands, values(frames * kBands, static_cast<std::uint32_t>(frames))};
        const std::int64_t positions = positions_of(frames);
        std::vector<float> found(size_of(positions * kState));
        subsampling.run(mel, found.data());

        const Plane sound{frames, kBands, 1, {mel.values.begin(), mel.values.end()}};
        const auto own = [&](const std::vector<float>& kernel) {
          return
              [&kernel](std::int64_t channel, std::int64_t tap) { return kernel[size_of(tap * kChannels + channel)]; };
        };
        const Plane one = convolved(
            sound, true, [&](std::int64_t channel, std::int64_t tap) { return first[size_of(channel * 9 + tap)]; },
            weights.first_bias);
        const Plane two =
            mixed(convolved(one, false, own(weights.second), weights.second_bias), second_mix, weights.second_mix.bias);
        const Plane three =
            mixed(convolved(two, false, own(weights.third), weights.third_bias), third_mix, weights.third_mix.bias);
        REQUIRE(three.rows == positions);
        for (std::int64_t position = 0; position < positions; ++position) {
          for (std::int64_t i = 0; i < kState; ++i) {
            double sum = weights.out.bias[size_of(i)];
            for (std::int64_t feature = 0; feature < features; ++feature) {
              sum += static_cast<double>(out[size_of(i * features + feature)]) *
                     three.values[size_of(position * features + feature)];
            }
            CHECK(found[size_of(position * kState + i)] == doctest::Approx(sum).epsilon(1e-4));
          }
        }
      }
    }
  }
}

}  // namespace verbatim::parakeet
