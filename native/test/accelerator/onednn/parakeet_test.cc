// Results and memory of an accelerated Parakeet model. Compiled only in builds with oneDNN.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "error.h"
#include "speech/parakeet/cpu_slot.h"
#include "speech/parakeet/reference.h"
#include "speech/parakeet/small_model.h"
#include "support/counting_abort.h"

namespace verbatim::parakeet {

using test::english;
using test::noise_window;

namespace {

// Products of so many rows: one for each block.
std::uint64_t blocks(std::int64_t rows) { return static_cast<std::uint64_t>((rows + 191) / 192); }

// Products of the subsampling of so many positions. Convolutions are computed 32 positions at a time.
std::uint64_t subsampling_products(const ModelShape& shape, std::int64_t positions) {
  const std::int64_t bands = shape.mels / 8;
  std::uint64_t products = blocks(positions);
  for (std::int64_t first = 0; first < positions; first += 32) {
    const std::int64_t count = std::min<std::int64_t>(32, positions - first);
    products += blocks((2 * count + 1) * 2 * bands) + blocks(count * bands);
  }
  return products;
}

}  // namespace

TEST_CASE("every product of an accelerated Parakeet encoder is the accelerator's, however short the window") {
  const test::SmallParakeet file;
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  const auto model = CpuModel::load(file.path(), transformer::accelerated_format(store));
  const auto slot = model->make_slot(1);
  // Each layer has eight products, and the joint network has one.
  for (const auto& [seconds, positions] : {std::pair{0.2, 3}, {2.0, 26}, {5.0, 63}, {20.0, 251}}) {
    const std::uint64_t before = accelerator::computed_products(store.get());
    slot->transcribe(noise_window(seconds, 3), english(), nullptr);
    CHECK(accelerator::computed_products(store.get()) - before ==
          subsampling_products(file.shape, positions) +
              8 * blocks(positions) * static_cast<std::uint64_t>(file.shape.layers) + 1);
  }
}

TEST_CASE("an accelerated model's memory is known before it is packed, however small its file") {
  for (const std::string weights : {"f16", "q8_0", "q4_k"}) {
    CAPTURE(weights);
    ModelShape shape = test::parakeet_shape("parakeet-0.6b", weights);
    shape.layers = 1;
    const test::SmallParakeet file(shape);
    auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
    const auto format = transformer::accelerated_format(store);
    const auto known = static_cast<double>(packed_weight_bytes(shape, format));
    const auto model = CpuModel::load(file.path(), format);
    CHECK(static_cast<double>(model->memory_bytes()) > 0.8 * known);
    CHECK(static_cast<double>(model->memory_bytes()) < 1.1 * known);
    if (weights == "q4_k") CHECK(known > static_cast<double>(model->file().weight_bytes));
  }
}

TEST_CASE("with the published shape weights are held once, and a window takes less than 120 MiB") {
  // All layers are equal, and a window is in one of them at a time.
  ModelShape shape = test::parakeet_shape("parakeet-0.6b");
  shape.layers = 1;
  const test::SmallParakeet file(shape);
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  const auto model = CpuModel::load(file.path(), transformer::accelerated_format(store));
  // Neither the slot nor a window packs anything more.
  const auto slot = model->make_slot(1);
  const std::size_t before = slot->memory_bytes();
  slot->transcribe(noise_window(30, 1), english(), nullptr);
  CHECK(accelerator::packed_bytes(store.get()) == 0);
  const double operands = static_cast<double>(accelerator::operand_size(store.get())) / 2.0;
  // The file has two bytes for each weight. The rest is the table of positions for 50 s.
  const auto stored = static_cast<double>(model->file().weight_bytes);
  CHECK(static_cast<double>(model->memory_bytes()) < 1.1 * operands * stored);
  constexpr double kMiB = 1024.0 * 1024.0;
  const double window = static_cast<double>(slot->memory_bytes()) / kMiB;
  MESSAGE("MiB of a window of 30 s: ", window);
  CHECK(window > 10.0);
  CHECK(window < 120.0);
  CHECK(before < slot->memory_bytes());
}

TEST_CASE("Parakeet's encoder polls for an abort before it begins and four times per layer") {
  auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  REQUIRE(store != nullptr);
  const test::SmallParakeet file;
  const auto model = CpuModel::load(file.path(), transformer::accelerated_format(store));
  const MelSpectrogram mel = model->mel().spectrogram(noise_window(4, 6).samples);
  Encoder encoder(model->encoder(), file.shape, 1);
  const test::CountingAbort whole;
  encoder.encode(mel, &whole);
  CHECK(whole.looks() == 1 + 4 * file.shape.layers);
  // Each quarter of a layer has two products.
  for (int quarter = 0; quarter < 4 * file.shape.layers; ++quarter) {
    const test::CountingAbort abort(2 + quarter);
    const std::uint64_t before = accelerator::computed_products(store.get());
    CHECK_THROWS_AS(encoder.encode(mel, &abort), EngineError);
    CHECK(accelerator::computed_products(store.get()) - before ==
          subsampling_products(file.shape, 51) + 2 * static_cast<std::uint64_t>(quarter));
  }
}

}  // namespace verbatim::parakeet
