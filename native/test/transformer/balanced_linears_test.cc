#include "transformer/cpu/balanced_linears.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "transformer/cpu/row_product.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kInputs = 96;
constexpr std::size_t kOutputs = 40;

// A norm with a layer behind it, and rows of the norm's input.
struct Block {
  LayerNorm norm;
  std::vector<float> weights, rows;
  Linear linear;

  // Some channels of the norm are `outliers` times the rest, and those of its input `stream` times. Weights of channels
  // of a large input are small.
  explicit Block(float outliers, float stream = 1.0f) {
    std::mt19937 random(5);
    std::normal_distribution<float> distribution;
    for (std::size_t i = 0; i < kInputs; ++i) {
      norm.gamma.push_back((1.0f + 0.1f * distribution(random)) * (i % 24 == 5 ? outliers : 1.0f));
      norm.beta.push_back(0.3f * distribution(random));
    }
    for (std::size_t i = 0; i < kInputs * kOutputs; ++i) {
      weights.push_back(0.1f * distribution(random) / (i % 24 == 5 ? stream : 1.0f));
    }
    for (std::size_t i = 0; i < kInputs * 10; ++i) {
      rows.push_back(distribution(random) * (i % 24 == 5 ? stream : 1.0f));
    }
    // A channel of no weight.
    norm.gamma[3] = 0.0f;
    linear.weight.rows = kOutputs;
    linear.weight.columns = kInputs;
    linear.weight.data = std::as_bytes(std::span(weights));
    linear.bias.assign(kOutputs, 0.5f);
  }

  std::vector<float> normalized(std::span<const float> gain, std::span<const float> beta) const {
    std::vector<float> out(rows.size());
    for (std::size_t i = 0; i < rows.size(); i += kInputs) {
      kernels().layer_norm(rows.data() + i, kInputs, gain.data(), beta.data(), norm.epsilon, out.data() + i);
    }
    return out;
  }

  std::vector<double> expected() const {
    const std::vector<float> x = normalized(norm.gamma, norm.beta);
    std::vector<double> all;
    for (std::size_t row = 0; row < x.size(); row += kInputs) {
      for (std::size_t output = 0; output < kOutputs; ++output) {
        double sum = linear.bias[output];
        for (std::size_t k = 0; k < kInputs; ++k) {
          sum += static_cast<double>(x[row + k]) * weights[output * kInputs + k];
        }
        all.push_back(sum);
      }
    }
    return all;
  }

  // The distance of the product of these rows from expected().
  double distance(const PackedLinear& packed, const std::vector<float>& x) const {
    const PackedMatrix& weight = *packed.weight.for_kernels();
    const ComputeType type = weight.type();
    const std::size_t count = x.size() / kInputs;
    std::vector<std::byte> operands(count * operand_row_bytes(type, kInputs));
    for (std::size_t i = 0; i < count; ++i) {
      write_operands(kernels(), type, x.data() + i * kInputs, kInputs,
                     operands.data() + i * operand_row_bytes(type, kInputs));
    }
    std::vector<float> y(count * kOutputs);
    multiply(kernels(), {.weight = weight,
                         .rows = count,
                         .operands = operands.data(),
                         .epilogue = {.bias = packed.bias.data()},
                         .y = y.data(),
                         .ld = kOutputs});
    const std::vector<double> right = expected();
    double difference = 0.0, size = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      difference += std::pow(y[i] - right[i], 2.0);
      size += std::pow(right[i], 2.0);
    }
    return std::sqrt(difference / size);
  }

  double balanced(ComputeType type, std::span<const float> sizes = {}) const {
    WeightMemory memory(packed_linear_bytes(linear.weight, {type, nullptr}) + WeightMemory::float_bytes(kInputs));
    const Linear* const only[] = {&linear};
    const BalancedLinears packed = pack_behind_norm(norm, only, {type, nullptr}, memory, sizes);
    return distance(packed.linears.front(), normalized(packed.gain, std::vector<float>(kInputs, 0.0f)));
  }

  double plain(ComputeType type) const {
    WeightMemory memory(packed_linear_bytes(linear.weight, {type, nullptr}));
    return distance(pack_linear(linear, {type, nullptr}, memory), normalized(norm.gamma, norm.beta));
  }
};

}  // namespace

TEST_CASE("a norm's gain and bias that are folded into weights change no result") {
  for (const float outliers : {1.0f, 60.0f}) {
    const Block block(outliers);
    CHECK(block.balanced(ComputeType::kFloat32) < 1e-6);
    CHECK(block.plain(ComputeType::kFloat32) < 1e-6);
  }
}

TEST_CASE("outlying channels of a norm cost less of int8's precision when they are balanced") {
  const Block even(1.0f), outlying(60.0f);
  CHECK(even.balanced(ComputeType::kInt8) < 0.012);
  CHECK(outlying.balanced(ComputeType::kInt8) < 0.012);
  // Otherwise the outliers set the scale of every row. What they hide here is their own share of the result.
  CHECK(outlying.balanced(ComputeType::kInt8) < outlying.plain(ComputeType::kInt8));
}

TEST_CASE("channels of a norm's input that are known to be large cost less of int8's precision") {
  const Block block(1.0f, 60.0f);
  std::vector<float> sizes(kInputs, 1.0f);
  for (std::size_t i = 5; i < kInputs; i += 24) sizes[i] = 60.0f;
  CHECK(block.balanced(ComputeType::kFloat32, sizes) < 1e-5);
  CHECK(block.balanced(ComputeType::kInt8, sizes) < 0.012);
  CHECK(block.balanced(ComputeType::kInt8) > 2 * block.balanced(ComputeType::kInt8, sizes));
}

}  // namespace verbatim::transformer
