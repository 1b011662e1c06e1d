#include "transformer/cpu/cross_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "transformer/cpu/history.h"

namespace {

using namespace verbatim::transformer;

// A source of one layer and the expected result.
class Source {
 public:
  Source(const AttentionShape& shape, std::size_t positions, float spread)
      : shape_(shape), positions_(positions), rows_(positions * 2 * shape.width), query_(shape.width) {
    std::mt19937 random(static_cast<unsigned>(positions + shape.width));
    std::normal_distribution<float> distribution;
    for (float& value : rows_) value = distribution(random);
    for (float& value : query_) value = distribution(random) * spread;
  }

  const std::vector<float>& rows() const { return rows_; }
  const float* query(std::size_t head) const { return query_.data() + head * shape_.head_size(); }

  std::vector<double> weights(std::size_t head) const {
    std::vector<double> scores(positions_);
    for (std::size_t j = 0; j < positions_; ++j) {
      for (std::size_t k = 0; k < shape_.head_size(); ++k)
        scores[j] += static_cast<double>(query(head)[k]) * place(j, head)[k] * shape_.score_scale();
    }
    const double peak = *std::ranges::max_element(scores);
    double total = 0.0;
    for (double& score : scores) total += score = std::exp(score - peak);
    for (double& score : scores) score /= total;
    return scores;
  }

  std::vector<double> mix(std::size_t head) const {
    const std::vector<double> probabilities = weights(head);
    std::vector<double> out(shape_.head_size());
    for (std::size_t j = 0; j < positions_; ++j) {
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += probabilities[j] * place(j, head)[shape_.width + k];
    }
    return out;
  }

 private:
  const float* place(std::size_t position, std::size_t head) const {
    return rows_.data() + position * 2 * shape_.width + head * shape_.head_size();
  }

  AttentionShape shape_;
  std::size_t positions_;
  std::vector<float> rows_;
  std::vector<float> query_;
};

// Tolerance of an element for values with a spread of 1: the rounding of the value itself, and that of the keys. The
// latter shifts scores by more for larger queries.
double tolerance(ComputeType type, float spread) {
  if (type == ComputeType::kFloat32) return 1e-5;
  return type == ComputeType::kBfloat16 ? 0.01 + 0.001 * spread : 0.015 + 0.015 * spread;
}

void check(const Kernels& kernels, ComputeType type, const AttentionShape& shape, std::size_t positions, float spread) {
  const Source source(shape, positions, spread);
  const auto cache = make_cross_cache(kernels, type, shape, 2, positions);
  // In pieces, the last one first.
  const std::size_t row = 2 * shape.width, cut = positions / 3;
  cache->write(1, cut, std::span(source.rows()).subspan(cut * row));
  cache->write(1, 0, std::span(source.rows()).first(cut * row));
  CrossScratch scratch;
  std::vector<float> out(shape.head_size());
  for (std::size_t head = 0; head < shape.heads; ++head) {
    cache->attend({1, head, source.query(head), out.data()}, scratch);
    const auto weights = source.weights(head), mix = source.mix(head);
    double worst = 0.0, total = 0.0;
    for (std::size_t j = 0; j < positions; ++j) {
      worst = std::max(worst, std::abs(weights[j] - scratch.probabilities[j]));
      total += scratch.probabilities[j];
    }
    CHECK(worst < tolerance(type, spread));
    CHECK(total == doctest::Approx(1.0).epsilon(1e-5));
    worst = 0.0;
    for (std::size_t k = 0; k < out.size(); ++k) worst = std::max(worst, std::abs(mix[k] - out[k]));
    CHECK(worst < tolerance(type, spread));
  }
}

}  // namespace

TEST_CASE("every type of source gives nearly the exact result, with every instruction set") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
      CAPTURE(compute_type_name(type));
      for (const AttentionShape shape :
           {AttentionShape{128, 2}, AttentionShape{32, 4}, AttentionShape{36, 2}, AttentionShape{80, 1}}) {
        CAPTURE(shape.head_size());
        for (const std::size_t positions : {1u, 3u, 16u, 17u, 64u, 83u, 1500u}) {
          CAPTURE(positions);
          for (const float spread : {0.0f, 0.3f, 3.0f}) check(*kernels, type, shape, positions, spread);
        }
      }
    }
  }
}

TEST_CASE("positions with values of very different size do not lose precision") {
  const AttentionShape shape{64, 1};
  constexpr std::size_t kPositions = 40;
  std::vector<float> rows(kPositions * 128);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t position = i / 128;
    rows[i] = std::sin(static_cast<float>(i)) * (position % 2 == 0 ? 100.0f : 0.01f);
    // All keys are equal except for their sign, so that small values matter as well.
    if (i % 128 < 64) rows[i] = position % 2 == 0 ? -1.0f : 1.0f;
  }
  const std::vector<float> query(64, 0.5f);
  for (const ComputeType type : {ComputeType::kBfloat16, ComputeType::kInt8}) {
    const auto exact = make_cross_cache(kernels(), ComputeType::kFloat32, shape, 1, kPositions);
    const auto packed = make_cross_cache(kernels(), type, shape, 1, kPositions);
    std::vector<float> expected(64), found(64);
    CrossScratch scratch;
    for (const auto& [cache, out] : {std::pair{exact.get(), &expected}, std::pair{packed.get(), &found}}) {
      cache->write(0, 0, rows);
      cache->attend({0, 0, query.data(), out->data()}, scratch);
    }
    for (std::size_t k = 0; k < 64; ++k) CHECK(std::abs(found[k] - expected[k]) < 0.01 * 0.01);
  }
}

TEST_CASE("keys and values of zeros, and a query of zeros, give exact results") {
  const AttentionShape shape{64, 1};
  const std::vector<float> zeros(20 * 128, 0.0f);
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
    const auto cache = make_cross_cache(kernels(), type, shape, 1, 20);
    cache->write(0, 0, zeros);
    std::vector<float> out(64, 1.0f);
    CrossScratch scratch;
    cache->attend({0, 0, zeros.data(), out.data()}, scratch);
    CHECK(std::ranges::all_of(out, [](float value) { return value == 0.0f; }));
    for (std::size_t j = 0; j < 20; ++j) CHECK(scratch.probabilities[j] == doctest::Approx(0.05));
  }
}

TEST_CASE("a window of Whisper base and 100 text tokens stay within a request's memory limit") {
  constexpr std::size_t kMebibyte = 1u << 20, kLayers = 6, kTokens = 100;
  const AttentionShape shape{512, 8};
  const HistoryMemory history(kLayers * 2 * shape.width * sizeof(std::uint16_t), 0);
  const std::size_t text = kTokens * history.slot_bytes();
  const auto bytes = [&](ComputeType type) {
    return make_cross_cache(kernels(), type, shape, kLayers, 1500)->memory_bytes() + text;
  };
  CHECK(bytes(ComputeType::kInt8) < 11 * kMebibyte);
  CHECK(bytes(ComputeType::kBfloat16) < 20 * kMebibyte);
}
