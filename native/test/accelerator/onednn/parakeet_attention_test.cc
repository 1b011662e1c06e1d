// Compiled only in builds with oneDNN.
#include "speech/parakeet/relative_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "speech/random_models/noise.h"

namespace verbatim::parakeet {
namespace {

constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kWidth = 8;
constexpr std::int64_t kState = kHeads * kWidth;
// Positions of the table.
constexpr std::int64_t kPositions = 300;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

struct Case {
  std::vector<float> table = random_models::noise(size_of(kHeads * (2 * kPositions - 1) * kWidth), 1);
  AttentionWeights weights;

  Case() {
    weights.content_bias = random_models::noise(size_of(kState), 2);
    weights.position_bias = random_models::noise(size_of(kState), 3);
    weights.table.positions = kPositions;
    weights.table.operands.resize(table.size() * sizeof(float));
    std::memcpy(weights.table.operands.data(), table.data(), weights.table.operands.size());
  }

  // The result of query i of a head by the definition: distance i - j is in row kPositions - 1 - (i - j).
  std::vector<double> attended(const std::vector<float>& qkv, std::int64_t positions, std::int64_t head,
                               std::int64_t i) const {
    const auto value = [&](std::int64_t part, std::int64_t position, std::int64_t k) {
      return static_cast<double>(qkv[size_of((3 * position + part) * kState + head * kWidth + k)]);
    };
    const auto bias = [&](const std::vector<float>& values, std::int64_t k) {
      return static_cast<double>(values[size_of(head * kWidth + k)]);
    };
    std::vector<double> powers;
    double total = 0.0;
    for (std::int64_t j = 0; j < positions; ++j) {
      const std::int64_t row = head * (2 * kPositions - 1) + kPositions - 1 - (i - j);
      double score = 0.0;
      for (std::int64_t k = 0; k < kWidth; ++k) {
        const double query = value(0, i, k);
        score += (query + bias(weights.content_bias, k)) * value(1, j, k);
        score += (query + bias(weights.position_bias, k)) * static_cast<double>(table[size_of(row * kWidth + k)]);
      }
      powers.push_back(std::exp(score / std::sqrt(static_cast<double>(kWidth))));
      total += powers.back();
    }
    std::vector<double> sums(size_of(kWidth));
    for (std::int64_t j = 0; j < positions; ++j) {
      for (std::int64_t k = 0; k < kWidth; ++k) {
        sums[size_of(k)] += powers[size_of(j)] / total * value(2, j, k);
      }
    }
    return sums;
  }
};

}  // namespace

TEST_CASE("attention by content and by distance matches its definition, in windows of every length") {
  const auto store = accelerator::make_weight_store(AcceleratorMode::kFloat32);
  REQUIRE(store != nullptr);
  const Case one;
  for (const int threads : {1, 2}) {
    RelativeAttention attention(store, kState, kHeads, threads);
    // Blocks have 128 queries: more than one block, a single query, one whole block, and the table's last row.
    for (const std::int64_t positions : {std::int64_t{129}, std::int64_t{1}, std::int64_t{128}, kPositions}) {
      CAPTURE(positions);
      const std::vector<float> qkv =
          random_models::noise(size_of(3 * positions * kState), static_cast<std::uint32_t>(positions));
      std::vector<float> out(size_of(positions * kState));
      attention.run(one.weights, qkv.data(), positions, reinterpret_cast<std::byte*>(out.data()));
      for (std::int64_t head = 0; head < kHeads; ++head) {
        for (std::int64_t i = 0; i < positions; ++i) {
          const std::vector<double> expected = one.attended(qkv, positions, head, i);
          for (std::int64_t k = 0; k < kWidth; ++k) {
            const float found = out[size_of(i * kState + head * kWidth + k)];
            CHECK(std::abs(static_cast<double>(found) - expected[size_of(k)]) < 1e-4);
          }
        }
      }
    }
  }
}

}  // namespace verbatim::parakeet
