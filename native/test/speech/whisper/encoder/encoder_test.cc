#include "speech/whisper/encoder/encoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "error.h"
#include "speech/random_models/noise.h"
#include "speech/whisper/encoder/cpu_encoder.h"
#include "speech/whisper/encoder/reference_encoder.h"
#include "speech/whisper/small_models.h"
#include "support/counting_abort.h"
#include "support/device_under_test.h"

namespace verbatim::whisper {
namespace {

// Stores what is written, by several threads at a time, and detects repeated writes.
class KeptCross : public transformer::CrossCache {
 public:
  KeptCross(const ModelShape& shape, int positions)
      : width_(2 * static_cast<std::size_t>(shape.audio_state)),
        layers(static_cast<std::size_t>(shape.text_layers),
               std::vector<float>(static_cast<std::size_t>(positions) * width_)),
        writes(layers.size()) {}

  std::size_t positions() const noexcept override { return layers[0].size() / width_; }
  void write(std::size_t layer, std::size_t first, std::span<const float> rows) override {
    std::copy(rows.begin(), rows.end(), layers.at(layer).begin() + static_cast<std::ptrdiff_t>(first * width_));
    writes[layer] += rows.size();
  }
  std::size_t memory_bytes() const noexcept override { return 0; }

  bool is_whole() const {
    return std::all_of(writes.begin(), writes.end(), [&](const auto& n) { return n == layers[0].size(); });
  }

 private:
  std::size_t width_;

 public:
  std::vector<std::vector<float>> layers;
  std::vector<std::atomic<std::size_t>> writes;
};

// Features of seven seconds of noise; the rest is padding.
MelSpectrogram spectrogram(const Model& model, unsigned seed) {
  return MelExtractor(model.mel_filters(), model.shape().mels).spectrogram(random_models::noise(7 * 16000, seed));
}

std::vector<std::vector<float>> encode(const std::shared_ptr<const Model>& model, int positions,
                                       const std::unique_ptr<Encoder>& encoder, int first = 0) {
  const MelSpectrogram mel = spectrogram(*model, 3);
  KeptCross cross(model->shape(), positions);
  EncoderRun run(*model, mel, first, positions, cross);
  while (!encoder->advance(run, nullptr)) {
  }
  CHECK(cross.is_whole());
  CHECK(run.memory_bytes() == 0);
  return cross.layers;
}

std::vector<std::vector<float>> encode(const std::shared_ptr<const Model>& model, int positions, int threads = 1,
                                       int first = 0) {
  return encode(model, positions, make_encoder(model, threads), first);
}

// A model for each encoder on the CPU: graphs, the accelerator if there is one, this engine's kernels.
std::vector<std::shared_ptr<const Model>> every_form(const test::SmallModel& file) {
  return {Model::load(file.path(), AcceleratorMode::kOff), Model::load(file.path(), AcceleratorMode::kAuto),
          Model::load_kernels(file.path(), transformer::ComputeType::kInt8)};
}

// Root mean square of the difference, relative to the reference.
double error_of(const std::vector<std::vector<float>>& ours, const std::vector<std::vector<double>>& reference) {
  double difference = 0.0;
  double size = 0.0;
  REQUIRE(ours.size() == reference.size());
  for (std::size_t layer = 0; layer < ours.size(); ++layer) {
    REQUIRE(ours[layer].size() == reference[layer].size());
    for (std::size_t i = 0; i < ours[layer].size(); ++i) {
      difference += std::pow(ours[layer][i] - reference[layer][i], 2.0);
      size += std::pow(reference[layer][i], 2.0);
    }
  }
  return std::sqrt(difference / size);
}

std::vector<std::vector<double>> reference(const test::SmallModel& file, const Model& model, int positions,
                                           int first = 0) {
  const ModelReader reader(file.path());
  const MelSpectrogram mel = spectrogram(model, 3);
  std::vector<float> frames(static_cast<std::size_t>(mel.bands() * 2 * positions));
  mel.copy(first, 2 * positions, frames.data());
  return test::reference_cross(reader, test::reference_encoding(reader, frames, positions));
}

double error_against_reference(const test::SmallModel& file, const std::shared_ptr<const Model>& model, int positions,
                               int threads = 1, int first = 0) {
  return error_of(encode(model, positions, threads, first), reference(file, *model, positions, first));
}

double error_against_reference(const test::SmallModel& file, AcceleratorMode accelerator, int positions,
                               int threads = 1, int first = 0) {
  return error_against_reference(file, Model::load(file.path(), accelerator), positions, threads, first);
}

bool is_accelerated(AcceleratorMode mode) { return accelerator::make_weight_store(mode) != nullptr; }

// ggml's GELU uses a float16 table; the accelerator's does not.
double float32_tolerance() { return is_accelerated(AcceleratorMode::kFloat32) ? 1e-5 : 2e-3; }

}  // namespace

TEST_CASE("float32 encodes like double precision, at any length") {
  const test::SmallModel file({.weights = "f32", .width = 128, .heads = 2});
  for (const int positions : {1, 2, 37, 255, 256, 300}) {
    CAPTURE(positions);
    CHECK(error_against_reference(file, AcceleratorMode::kFloat32, positions) < float32_tolerance());
  }
  CHECK(error_against_reference(file, AcceleratorMode::kFloat32, 60, 2) < float32_tolerance());
}

TEST_CASE("a window may begin anywhere in the audio") {
  const test::SmallModel file({.weights = "f32", .width = 64, .heads = 1});
  // Sound, sound and padding, padding alone, padding and frames past it, frames past it.
  for (const int first : {0, 1, 333, 1000, 3600, 3700, 5000}) {
    CAPTURE(first);
    CHECK(error_against_reference(file, AcceleratorMode::kFloat32, 250, 1, first) < float32_tolerance());
  }
}

TEST_CASE("every type of weights encodes like double precision, up to its rounding of activations" *
          doctest::test_suite("long")) {
  for (const char* weights :
       {"f32", "f16", "q8_0", "q6_k", "q5_1", "q5_0", "q5_k", "q4_1", "q4_0", "q4_k", "q3_k", "q2_k"}) {
    CAPTURE(weights);
    const test::SmallModel file({.weights = weights, .audio_layers = 1, .text_layers = 1});
    CHECK(error_against_reference(file, AcceleratorMode::kFloat32, 100) < float32_tolerance());
    CHECK(error_against_reference(file, AcceleratorMode::kAuto, 250) < 0.02);
    CHECK(error_against_reference(file, AcceleratorMode::kOff, 100) < 0.02);
  }
}

TEST_CASE("shapes of every family: mel bands, vocabularies, distilled decoders") {
  const test::SmallModelOptions kShapes[] = {
      {.width = 64, .heads = 1, .audio_layers = 3, .text_layers = 2, .vocabulary = 51864},
      {.width = 128, .heads = 8, .audio_layers = 1, .text_layers = 4, .mels = 128, .vocabulary = 51866},
  };
  for (const test::SmallModelOptions& options : kShapes) {
    const test::SmallModel file(options);
    CHECK(error_against_reference(file, AcceleratorMode::kFloat32, 250) < float32_tolerance());
  }
}

TEST_CASE("graphs on a device encode like double precision: every type of weights, length and start" *
          doctest::test_suite("long")) {
  for (const char* weights :
       {"f32", "f16", "q8_0", "q6_k", "q5_1", "q5_0", "q5_k", "q4_1", "q4_0", "q4_k", "q3_k", "q2_k"}) {
    CAPTURE(weights);
    const test::SmallModel file({.weights = weights, .audio_layers = 1, .text_layers = 1});
    const auto exact = Model::load_graphs(file.path(), test::device_under_test(), true);
    const auto stored = Model::load_graphs(file.path(), test::device_under_test(), false);
    CHECK(error_against_reference(file, exact, 100) < 2e-3);
    CHECK(error_against_reference(file, stored, 100) < 0.02);
    if (weights != std::string("f32")) CHECK(stored->info().memory_bytes < exact->info().memory_bytes);
  }
  const test::SmallModel file({.weights = "f32", .width = 128, .heads = 2, .mels = 128});
  const auto model = Model::load_graphs(file.path(), test::device_under_test(), true);
  for (const int positions : {1, 2, 37, 256}) {
    CAPTURE(positions);
    CHECK(error_against_reference(file, model, positions) < 2e-3);
    CHECK(error_against_reference(file, model, positions, 2, 333) < 2e-3);
  }
}

TEST_CASE("this engine's kernels encode like double precision, at any length and start") {
  const test::SmallModel file({.weights = "f32", .width = 128, .heads = 2});
  const auto float32 = Model::load_kernels(file.path(), transformer::ComputeType::kFloat32);
  const auto int8 = Model::load_kernels(file.path(), transformer::ComputeType::kInt8);
  for (const int positions : {1, 2, 37, 48, 49, 255, 300}) {
    CAPTURE(positions);
    CHECK(error_against_reference(file, float32, positions) < 2e-5);
    // A short window's rounding does not average out.
    CHECK(error_against_reference(file, int8, positions) < (positions < 30 ? 0.03 : 0.02));
  }
  for (const int first : {1, 333, 1000, 3600, 3700, 5000}) {
    CAPTURE(first);
    CHECK(error_against_reference(file, float32, 100, 1, first) < 2e-5);
    CHECK(error_against_reference(file, int8, 100, 1, first) < 0.02);
  }
}

TEST_CASE("every instruction set of this processor encodes in int8, whatever the shape of heads") {
  for (const std::int32_t heads : {1, 2, 4, 8}) {
    CAPTURE(heads);
    const test::SmallModel file({.width = 128, .heads = heads, .mels = 128, .vocabulary = 51866});
    const auto model = Model::load_kernels(file.path(), transformer::ComputeType::kInt8);
    for (const transformer::Kernels* kernels : transformer::available_kernels()) {
      CAPTURE(kernels->name);
      const auto one = encode(model, 100, std::make_unique<CpuEncoder>(model, 1, *kernels));
      CHECK(error_of(one, reference(file, *model, 100)) < 0.02);
      CHECK(encode(model, 100, std::make_unique<CpuEncoder>(model, 3, *kernels)) == one);
    }
  }
}

TEST_CASE("int8 takes every type of weights" * doctest::test_suite("long")) {
  for (const char* weights :
       {"f32", "f16", "q8_0", "q6_k", "q5_1", "q5_0", "q5_k", "q4_1", "q4_0", "q4_k", "q3_k", "q2_k"}) {
    CAPTURE(weights);
    const test::SmallModel file({.weights = weights, .audio_layers = 1, .text_layers = 1});
    CHECK(error_against_reference(file, Model::load_kernels(file.path(), transformer::ComputeType::kInt8), 100) < 0.02);
  }
}

TEST_CASE("windows that take turns in one encoder are encoded as if each were alone") {
  const test::SmallModel file({.width = 128, .heads = 2, .audio_layers = 30, .text_layers = 2});
  for (const auto& model : every_form(file)) {
    const auto encoder = make_encoder(model, 1);
    const int kPositions[] = {256, 40, 300};
    const MelSpectrogram mel = spectrogram(*model, 3);
    std::vector<std::unique_ptr<KeptCross>> crosses;
    std::vector<std::unique_ptr<EncoderRun>> runs;
    for (std::size_t i = 0; i < 3; ++i) {
      crosses.push_back(std::make_unique<KeptCross>(file.shape, kPositions[i]));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      runs.push_back(std::make_unique<EncoderRun>(*model, mel, 0, kPositions[i], *crosses[i]));
      CHECK(runs[i]->units() > 2);
    }
    for (bool all = false; !all;) {
      all = true;
      for (const auto& run : runs) all &= encoder->advance(*run, nullptr);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      CHECK(crosses[i]->layers == encode(model, kPositions[i]));
    }
  }
}

TEST_CASE("encoders of one model work at the same time and do not affect each other") {
  const test::SmallModel file({.width = 128, .heads = 2, .audio_layers = 4, .text_layers = 2});
  for (const auto& model : every_form(file)) {
    const MelSpectrogram mel = spectrogram(*model, 3);
    const int kPositions[] = {300, 256, 77};
    std::vector<std::unique_ptr<KeptCross>> crosses;
    std::vector<std::thread> lanes;
    for (const int positions : kPositions) {
      KeptCross& cross = *crosses.emplace_back(std::make_unique<KeptCross>(file.shape, positions));
      lanes.emplace_back([&model, &mel, &cross, positions] {
        const auto encoder = make_encoder(model, 1);
        for (int round = 0; round < 3; ++round) {
          EncoderRun run(*model, mel, 0, positions, cross);
          while (!encoder->advance(run, nullptr)) {
          }
        }
      });
    }
    for (std::thread& lane : lanes) lane.join();
    for (std::size_t i = 0; i < 3; ++i) CHECK(crosses[i]->layers == encode(model, kPositions[i]));
  }
}

TEST_CASE("an abort is polled before every unit, and the window may continue later") {
  const test::SmallModel file({.width = 64, .heads = 1, .audio_layers = 40});
  for (const auto& model : every_form(file)) {
    const MelSpectrogram mel = spectrogram(*model, 3);
    KeptCross cross(file.shape, 50);
    EncoderRun run(*model, mel, 0, 50, cross);
    REQUIRE(run.units() >= 3);
    const auto encoder = make_encoder(model, 1);
    AbortFlag abort;
    CHECK_FALSE(encoder->advance(run, &abort));
    abort.set();
    for (int i = 0; i < 3; ++i) {
      CHECK_THROWS_WITH_AS(encoder->advance(run, &abort), "aborted by the caller", EngineError);
    }
    CHECK(run.memory_bytes() >= 50 * 64 * sizeof(float));
    std::size_t units = 1;
    while (!run.complete()) {
      encoder->advance(run, nullptr);
      ++units;
    }
    CHECK(units == run.units());
    CHECK(encoder->advance(run, &abort));
    CHECK(cross.layers == encode(model, 50));
  }
}

TEST_CASE("invalid lengths and numbers of threads are refused by name") {
  const test::SmallModel file({.width = 64, .heads = 1});
  const auto model = Model::load(file.path(), AcceleratorMode::kOff);
  const MelSpectrogram mel;
  KeptCross cross(file.shape, 1);
  for (const int positions : {-1, 0, 1501}) {
    const std::string message = "positions is " + std::to_string(positions) + "; 1 to 1500 is allowed";
    CHECK_THROWS_WITH_AS(EncoderRun(*model, mel, 0, positions, cross), message.c_str(), EngineError);
  }
  CHECK_THROWS_WITH_AS(EncoderRun(*model, mel, -1, 1, cross), "first_frame is -1; 0 or more is allowed", EngineError);
  for (const auto& any : {model, Model::load_kernels(file.path(), transformer::ComputeType::kInt8)}) {
    CHECK_THROWS_AS(make_encoder(any, 0), EngineError);
    CHECK_THROWS_AS(make_encoder(any, 257), EngineError);
  }
}

}  // namespace verbatim::whisper
