// The memory of histories and sources; both may be made and freed while a step runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "transformer/decoder_fixture.h"

using namespace verbatim;
using namespace verbatim::transformer;

TEST_CASE("histories in bfloat16 take half the memory and give nearly the same results") {
  const CacheTypes half{ComputeType::kFloat32, ComputeType::kBfloat16};
  DecoderFixture exact, coarse({}, ComputeType::kFloat32, half);
  const auto text = sample_text(30, 3);
  const auto source = exact.source(12), same = coarse.source(12);
  const Logits expected = exact.one_by_one(text, *source), found = coarse.one_by_one(text, *same);
  CHECK(expected != found);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (std::size_t j = 0; j < expected[i].size(); ++j) CHECK(std::abs(expected[i][j] - found[i][j]) < 0.1f);
  }
  const auto of = [&](DecoderFixture& bench, const CrossCache& cache) {
    const auto history = bench.decoder->make_history();
    bench.step(rows_of(text, *history, cache));
    return history->memory_bytes();
  };
  // Two layers of keys and values, and a cache line for each token.
  CHECK(of(exact, *source) == 30 * (2 * 2 * 32 * 4 + 64));
  CHECK(of(coarse, *same) == 30 * (2 * 2 * 32 * 2 + 64));
}

TEST_CASE("memory of ended texts is kept for later ones, within bounds") {
  constexpr std::size_t kSlot = 2 * 2 * 32 * 4 + 64;
  // A chunk has 256 slots, in whole pages.
  constexpr std::size_t kChunk = (256 * kSlot + 4095) / 4096 * 4096;
  for (const std::size_t kept : {0u, 1u, 4u}) {
    CAPTURE(kept);
    DecoderFixture bench({.positions = 600});
    bench.decoder =
        std::make_unique<CpuDecoder>(bench.random.model(), bench.weights, CacheTypes{}, kernels(), kept * kChunk);
    const auto source = bench.source(4);
    std::size_t graph = 0;
    for (int round = 0; round < 3; ++round) {
      {
        const auto history = bench.decoder->make_history();
        bench.step(rows_of(sample_text(600, 1), *history, *source));
        CHECK(history->memory_bytes() == 600 * kSlot);
        const std::size_t now = bench.decoder->memory_bytes() - (3 * kChunk - 600 * kSlot);
        if (round == 0) graph = now;
        CHECK(now == graph);
      }
      CHECK(bench.decoder->memory_bytes() == graph + std::min<std::size_t>(kept, 3) * kChunk);
    }
  }
}

TEST_CASE("packed sources give nearly the logits of float32") {
  const RandomDecoderShape shape{.width = 128, .heads = 2, .inner = 256};
  const auto text = sample_text(20, 3);
  DecoderFixture exact(shape);
  const Logits expected = exact.one_by_one(text, *exact.source(300));
  for (const auto& [type, bound] : {std::pair{ComputeType::kBfloat16, 0.03}, {ComputeType::kInt8, 0.08}}) {
    CAPTURE(compute_type_name(type));
    DecoderFixture coarse(shape, ComputeType::kFloat32, {type, ComputeType::kFloat32});
    const Logits found = coarse.one_by_one(text, *coarse.source(300));
    CHECK(found != expected);
    double worst = 0.0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (std::size_t j = 0; j < expected[i].size(); ++j)
        worst = std::max(worst, std::abs(static_cast<double>(expected[i][j]) - found[i][j]));
    }
    CHECK(worst < bound);
  }
}

TEST_CASE("windows and texts come and go in other threads while steps run") {
  DecoderFixture bench({}, ComputeType::kFloat32, {ComputeType::kInt8, ComputeType::kBfloat16});
  const auto source = bench.source(9);
  const auto text = sample_text(40, 4);
  const Logits expected = bench.one_by_one(text, *source);
  const auto history = bench.decoder->make_history();
  const auto rows = rows_of(text, *history, *source);
  bench.step({rows.begin(), rows.begin() + 10});
  std::vector<std::unique_ptr<History>> forks;
  for (int i = 0; i < 100; ++i) forks.push_back(history->fork());
  const std::vector<float> values = bench.random.source(30);
  std::thread others([&] {
    while (!forks.empty()) {
      const auto cache = bench.decoder->make_cross_cache(30);
      cache->write(0, 0, values);
      const auto fresh = bench.decoder->make_history();
      forks.pop_back();
    }
  });
  Logits found;
  for (std::size_t i = 10; i < text.size(); ++i) found.push_back(bench.step({rows[i]}).front());
  others.join();
  CHECK(std::equal(found.begin(), found.end(), expected.begin() + 10));
  CHECK(history->memory_bytes() == 40 * (2 * 2 * 32 * 2 + 64));
}
