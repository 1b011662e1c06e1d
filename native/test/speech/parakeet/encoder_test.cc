#include "speech/parakeet/encoder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "speech/parakeet/cpu_model.h"
#include "speech/parakeet/reference.h"
#include "speech/parakeet/small_model.h"

namespace verbatim::parakeet {
namespace {

using test::noise_window;
using transformer::ComputeType;
using transformer::ProductFormat;

std::vector<float> encode(const CpuModel& model, double seconds, int threads = 1,
                          const transformer::Kernels& kernels = transformer::kernels()) {
  Encoder encoder(model.encoder(), model.file().shape, threads, kernels);
  return encoder.encode(model.mel().spectrogram(noise_window(seconds, 4).samples), nullptr);
}

// Root mean square of the difference, relative to the reference.
double distance(const std::vector<float>& ours, const std::vector<float>& reference) {
  REQUIRE(ours.size() == reference.size());
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference += std::pow(static_cast<double>(ours[i]) - reference[i], 2.0);
    size += std::pow(static_cast<double>(reference[i]), 2.0);
  }
  return std::sqrt(difference / size);
}

ModelShape published_shape(int layers) {
  ModelShape shape = test::parakeet_shape("parakeet-0.6b");
  shape.layers = layers;
  return shape;
}

}  // namespace

TEST_CASE("every instruction set of this processor encodes Parakeet in int8 and float32, on any number of threads") {
  for (const ModelShape& shape : {test::small_parakeet_shape("f32"), test::parakeet_shape("parakeet-narrow", "f32"),
                                  test::parakeet_shape("parakeet-wide", "f32")}) {
    const test::SmallParakeet file(shape);
    const auto exact = CpuModel::load(file.path(), {ComputeType::kFloat32, nullptr});
    const auto int8 = CpuModel::load(file.path(), {ComputeType::kInt8, nullptr});
    for (const double seconds : {0.3, 4.0, 13.0}) {
      CAPTURE(seconds);
      const std::vector<float> reference = encode(*exact, seconds);
      for (const transformer::Kernels* kernels : transformer::available_kernels()) {
        CAPTURE(kernels->name);
        CHECK(distance(encode(*exact, seconds, 2, *kernels), reference) < 1e-5);
        const std::vector<float> one = encode(*int8, seconds, 1, *kernels);
        CHECK(distance(one, reference) < 0.03);
        CHECK(encode(*int8, seconds, 3, *kernels) == one);
      }
    }
  }
}

TEST_CASE("with the published shape int8 stays near float32" * doctest::test_suite("long")) {
  // All 24 layers have 1.7 times the distance of 4.
  const test::SmallParakeet file(published_shape(4));
  std::vector<std::vector<float>> results;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
    results.push_back(encode(*CpuModel::load(file.path(), {type, nullptr}), 10.0, 2));
  }
  const double found = distance(results[1], results[0]);
  MESSAGE("distance of int8 from float32: ", found);
  CHECK(found < 0.04);
  if (auto store = accelerator::make_weight_store(AcceleratorMode::kAuto)) {
    const auto model = CpuModel::load(file.path(), transformer::accelerated_format(std::move(store)));
    MESSAGE("of ", model->info().accelerator, ": ", distance(encode(*model, 10.0, 2), results[0]));
  }
}

}  // namespace verbatim::parakeet
