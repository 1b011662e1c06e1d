// The number of threads of an encoder's units.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "error.h"
#include "speech/random_models/noise.h"
#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/small_models.h"

namespace verbatim::whisper {
namespace {

// Keeps what is written; threads write different rows.
class KeptRows : public transformer::CrossCache {
 public:
  KeptRows(const ModelShape& shape, int positions)
      : width_(2 * static_cast<std::size_t>(shape.audio_state)),
        positions_(static_cast<std::size_t>(positions)),
        values(static_cast<std::size_t>(shape.text_layers) * positions_ * width_) {}

  std::size_t positions() const noexcept override { return positions_; }
  void write(std::size_t layer, std::size_t first, std::span<const float> rows) override {
    std::ranges::copy(rows, values.begin() + static_cast<std::ptrdiff_t>((layer * positions_ + first) * width_));
  }
  std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  std::size_t width_, positions_;

 public:
  std::vector<float> values;
};

// Unit i is computed on threads[i % threads.size()] threads.
std::vector<float> encode(const Model& model, Encoder& encoder, int positions, const std::vector<int>& threads) {
  const MelSpectrogram mel =
      MelExtractor(model.mel_filters(), model.shape().mels).spectrogram(random_models::noise(7 * 16000, 3));
  KeptRows rows(model.shape(), positions);
  EncoderRun run(model, mel, 0, positions, rows);
  CHECK(run.units() > 2);
  for (std::size_t unit = 0; !run.complete(); ++unit) {
    encoder.set_threads(threads[unit % threads.size()]);
    encoder.advance(run, nullptr);
  }
  return rows.values;
}

const test::SmallModelOptions kDeep{.width = 128, .heads = 4, .audio_layers = 30};

std::vector<std::shared_ptr<const Model>> every_form(const test::SmallModel& file) {
  return {Model::load(file.path(), AcceleratorMode::kOff), Model::load(file.path(), AcceleratorMode::kFloat32),
          Model::load(file.path(), AcceleratorMode::kAuto),
          Model::load_kernels(file.path(), transformer::ComputeType::kFloat32),
          Model::load_kernels(file.path(), transformer::ComputeType::kInt8)};
}

}  // namespace

TEST_CASE("the number of threads may change from unit to unit, and no bit of the result does") {
  const test::SmallModel file(kDeep);
  for (const auto& model : every_form(file)) {
    for (const int positions : {40, 300}) {
      CAPTURE(positions);
      const auto encoder = make_encoder(model, 1);
      const auto alone = encode(*model, *encoder, positions, {1});
      CHECK(encode(*model, *encoder, positions, {3}) == alone);
      CHECK(encode(*model, *encoder, positions, {2, 1, 4, 3}) == alone);
    }
  }
}

TEST_CASE("nor does a bit of what the accelerator computes in several blocks, on up to 7 threads") {
  const test::SmallModel file(kDeep);
  for (const auto mode : {AcceleratorMode::kFloat32, AcceleratorMode::kAuto}) {
    const auto model = Model::load(file.path(), mode);
    CAPTURE(model->info().accelerator);
    const auto encoder = make_encoder(model, 1);
    const auto alone = encode(*model, *encoder, 800, {1});
    for (int threads = 2; threads <= 7; ++threads) {
      CAPTURE(threads);
      CHECK(encode(*model, *encoder, 800, {threads}) == alone);
    }
  }
}

TEST_CASE("nor does a bit of a window of 30 s, in the widths of base and small" * doctest::test_suite("long")) {
  for (const std::int32_t heads : {8, 12}) {
    CAPTURE(heads);
    const test::SmallModel file({.width = 64 * heads, .heads = heads, .audio_layers = 2});
    for (const auto& model : every_form(file)) {
      CAPTURE(model->info().accelerator);
      const auto encoder = make_encoder(model, 1);
      const auto alone = encode(*model, *encoder, 1500, {1});
      for (const int threads : {2, 3, 4, 7}) CHECK(encode(*model, *encoder, 1500, {threads, 1}) == alone);
    }
  }
}

TEST_CASE("working memory of threads that are taken away is freed") {
  const test::SmallModel file(kDeep);
  const auto model = Model::load_kernels(file.path(), transformer::ComputeType::kInt8);
  const auto encoder = make_encoder(model, 1);
  encode(*model, *encoder, 300, {1});
  const std::size_t of_one = encoder->memory_bytes();
  // Which thread takes which block is open, but one of them hardly takes all of thousands.
  for (int round = 0; round < 100 && encoder->memory_bytes() == of_one; ++round) encode(*model, *encoder, 300, {4});
  CHECK(encoder->memory_bytes() > of_one);
  encoder->set_threads(1);
  CHECK(encoder->memory_bytes() == of_one);
}

TEST_CASE("an encoder works on 1 to 256 threads") {
  const test::SmallModel file(kDeep);
  for (const auto& model : every_form(file)) {
    const auto encoder = make_encoder(model, 256);
    CHECK_THROWS_WITH_AS(encoder->set_threads(0), "threads is 0; 1 to 256 is allowed", EngineError);
    CHECK_THROWS_AS(encoder->set_threads(257), EngineError);
  }
}

}  // namespace verbatim::whisper
