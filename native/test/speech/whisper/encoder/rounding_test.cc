#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "speech/random_models/noise.h"
#include "speech/whisper/encoder/cpu_encoder.h"
#include "speech/whisper/small_models.h"

// How far rounding to int8 moves the encoder's output, on models with the traits of trained ones.
namespace verbatim::whisper {
namespace {

constexpr int kPositions = 150;

class CrossRows : public transformer::CrossCache {
 public:
  explicit CrossRows(const ModelShape& shape)
      : layer_(kPositions * 2 * static_cast<std::size_t>(shape.audio_state)),
        rows(layer_ * static_cast<std::size_t>(shape.text_layers)) {}

  std::size_t positions() const noexcept override { return kPositions; }
  void write(std::size_t layer, std::size_t first, std::span<const float> values) override {
    std::ranges::copy(values, rows.begin() + static_cast<std::ptrdiff_t>(layer * layer_ + first * layer_ / kPositions));
  }
  std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  std::size_t layer_;

 public:
  std::vector<float> rows;
};

std::vector<float> encoded(const test::SmallModel& file, transformer::ComputeType type,
                           const transformer::Kernels& kernels = transformer::kernels()) {
  const auto model = Model::load_kernels(file.path(), type);
  const MelSpectrogram mel =
      MelExtractor(model->mel_filters(), file.shape.mels).spectrogram(random_models::noise(kPositions * 320, 3));
  CrossRows cross(file.shape);
  CpuEncoder encoder(model, 1, kernels);
  EncoderRun run(*model, mel, 0, kPositions, cross);
  while (!encoder.advance(run, nullptr)) {
  }
  return cross.rows;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2.0);
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / size);
}

test::SmallModelOptions model_options(const random_models::WeightTraits& traits, const std::string& weights = "f32") {
  return {.weights = weights, .width = 128, .heads = 2, .audio_layers = 3, .traits = traits};
}

struct TraitBound {
  std::string name;
  random_models::WeightTraits traits;
  double bound;
};

// Measured on AVX-512, AVX-VNNI, AVX2 and plain C++: 0.013, 0.014, 0.021 to 0.033, 0.037 to 0.044. A sharp head whose
// two best positions are close to each other amplifies whatever was rounded before it.
const TraitBound kBounds[] = {{"plain", {}, 0.016},
                              {"outliers", {.outliers = true}, 0.017},
                              {"sharp heads", {.sharp_heads = true}, 0.05},
                              {"both", {.outliers = true, .sharp_heads = true}, 0.065}};

}  // namespace

TEST_CASE("int8 keeps its distance from float32 with outlier channels and sharp heads, on every instruction set") {
  for (const TraitBound& bound : kBounds) {
    CAPTURE(bound.name);
    const test::SmallModel file(model_options(bound.traits));
    const std::vector<float> exact = encoded(file, transformer::ComputeType::kFloat32);
    for (const transformer::Kernels* kernels : transformer::available_kernels()) {
      CAPTURE(kernels->name);
      const double from = distance(encoded(file, transformer::ComputeType::kInt8, *kernels), exact);
      MESSAGE(bound.name << " on " << std::string(kernels->name) << ": " << from);
      CHECK(from < bound.bound);
    }
  }
}

TEST_CASE("int8 adds little to what a quantized file has lost already") {
  for (const TraitBound& bound : kBounds) {
    CAPTURE(bound.name);
    const std::vector<float> exact =
        encoded(test::SmallModel(model_options(bound.traits)), transformer::ComputeType::kFloat32);
    for (const std::string weights : {"f16", "q8_0", "q5_1", "q4_0"}) {
      CAPTURE(weights);
      const test::SmallModel file(model_options(bound.traits, weights));
      const double stored = distance(encoded(file, transformer::ComputeType::kFloat32), exact);
      const double both = distance(encoded(file, transformer::ComputeType::kInt8), exact);
      MESSAGE(bound.name << " in " << weights << ": " << stored << ", with int8 " << both);
      // The two roundings are nearly independent.
      CHECK(both < 1.05 * std::hypot(stored, bound.bound));
    }
  }
}

}  // namespace verbatim::whisper
