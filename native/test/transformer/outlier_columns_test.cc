#include "transformer/cpu/outlier_columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "transformer/cpu/balanced_linears.h"
#include "transformer/cpu/row_product.h"

namespace verbatim::transformer {
namespace {

constexpr std::size_t kRows = 7;
constexpr std::size_t kDepth = 256;
constexpr std::size_t kOutputs = 70;

// A layer whose inputs of some columns are `ratio` times the rest, and the weights of those columns smaller by it.
struct Product {
  std::vector<float> weights, rows, sizes;
  Linear linear;

  explicit Product(float ratio, float smaller) {
    std::mt19937 random(3);
    std::normal_distribution<float> distribution;
    const auto is_large = [](std::size_t k) { return k % 64 == 9; };
    for (std::size_t i = 0; i < kDepth * kOutputs; ++i) {
      weights.push_back(distribution(random) / (is_large(i % kDepth) ? smaller : 1.0f));
    }
    for (std::size_t i = 0; i < kDepth * kRows; ++i) {
      rows.push_back(distribution(random) * (is_large(i % kDepth) ? ratio : 1.0f));
    }
    for (std::size_t k = 0; k < kDepth; ++k) sizes.push_back(is_large(k) ? ratio : 1.0f);
    linear.weight.rows = kOutputs;
    linear.weight.columns = kDepth;
    linear.weight.data = std::as_bytes(std::span(weights));
  }

  WeightMemory memory_of_outliers() const { return WeightMemory(OutlierColumns::memory_bytes(linear.weight)); }

  std::vector<float> multiplied(const MatrixView& weight, const std::vector<float>& x, ComputeType type) const {
    WeightMemory memory(PackedMatrix::bytes(weight, type));
    const PackedMatrix packed(weight, type, memory);
    const std::size_t row_bytes = operand_row_bytes(type, kDepth);
    std::vector<std::byte> operands(kRows * row_bytes);
    for (std::size_t i = 0; i < kRows; ++i) {
      write_operands(kernels(), type, x.data() + i * kDepth, kDepth, operands.data() + i * row_bytes);
    }
    std::vector<float> y(kRows * kOutputs);
    multiply(kernels(), {.weight = packed, .rows = kRows, .operands = operands.data(), .y = y.data(), .ld = kOutputs});
    return y;
  }

  OutlierColumns outliers(WeightMemory& memory) const {
    return OutlierColumns(linear.weight, memory, [this] { return sizes; });
  }

  std::vector<float> apart(ComputeType type) const {
    WeightMemory memory = memory_of_outliers();
    const OutlierColumns columns = outliers(memory);
    std::vector<float> x = rows, taken;
    columns.take(x.data(), kRows, kDepth, taken);
    std::vector<float> y = multiplied(columns.rest(linear.weight), x, type);
    if (!columns.empty()) columns.add_product(kernels(), taken, kRows, y.data(), kOutputs);
    return y;
  }

  double distance(const std::vector<float>& y) const {
    double difference = 0.0, size = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < kDepth; ++k) {
        sum += static_cast<double>(rows[i / kOutputs * kDepth + k]) * weights[i % kOutputs * kDepth + k];
      }
      difference += std::pow(y[i] - sum, 2.0);
      size += sum * sum;
    }
    return std::sqrt(difference / size);
  }
};

}  // namespace

TEST_CASE("columns that are multiplied apart change no result") {
  for (const float ratio : {1.0f, 60.0f}) {
    const Product product(ratio, ratio);
    WeightMemory memory = product.memory_of_outliers();
    CHECK(product.outliers(memory).empty() == (ratio == 1.0f));
    CHECK(product.distance(product.apart(ComputeType::kFloat32)) < 1e-6);
  }
}

TEST_CASE("large inputs that are multiplied apart leave the precision of int8 to the rest") {
  const Product even(1.0f, 1.0f);
  const double usual = even.distance(even.apart(ComputeType::kInt8));
  CHECK(usual > 0.005);
  CHECK(usual < 0.015);
  for (const float smaller : {1.0f, 60.0f}) {
    CAPTURE(smaller);
    const Product product(60.0f, smaller);
    const double together =
        product.distance(product.multiplied(product.linear.weight, product.rows, ComputeType::kInt8));
    CHECK(product.distance(product.apart(ComputeType::kInt8)) < 1.2 * usual);
    CHECK(together > (smaller == 1.0f ? 2 : 20) * product.distance(product.apart(ComputeType::kInt8)));
  }
}

TEST_CASE("no more than a 32nd of the columns is multiplied apart: the largest") {
  Product product(1.0f, 1.0f);
  for (std::size_t k = 0; k < 100; ++k) product.sizes[k] = 10.0f + static_cast<float>(k);
  WeightMemory memory = product.memory_of_outliers();
  const OutlierColumns columns = product.outliers(memory);
  std::vector<float> x(kDepth, 1.0f), taken;
  columns.take(x.data(), 1, kDepth, taken);
  CHECK(taken.size() == kDepth / 32);
  for (std::size_t k = 0; k < kDepth; ++k) {
    CAPTURE(k);
    CHECK(x[k] == (k >= 92 && k < 100 ? 0.0f : 1.0f));
  }
}

TEST_CASE("columns that are multiplied apart are found in filled memory") {
  const Product product(60.0f, 1.0f);
  WeightMemory packed = product.memory_of_outliers();
  const OutlierColumns columns = product.outliers(packed);
  HugeBlock block(packed.size(), "a copy");
  std::ranges::copy(packed.bytes(), block.data());
  const std::span<const std::byte> part(block.data(), packed.size());
  WeightMemory filled(std::move(block), part);
  const OutlierColumns found(product.linear.weight, filled, []() -> std::vector<float> {
    FAIL("sizes are computed again");
    return {};
  });
  std::vector<float> x = product.rows, same = product.rows, taken, taken_again;
  columns.take(x.data(), kRows, kDepth, taken);
  found.take(same.data(), kRows, kDepth, taken_again);
  CHECK_FALSE(found.empty());
  CHECK(taken == taken_again);
  CHECK(x == same);
  std::vector<float> y(kRows * kOutputs), y_again(kRows * kOutputs);
  columns.add_product(kernels(), taken, kRows, y.data(), kOutputs);
  found.add_product(kernels(), taken_again, kRows, y_again.data(), kOutputs);
  CHECK(y == y_again);
}

TEST_CASE("the expected size of a result is that of its weights, its norm's gain, and a bias above zero") {
  const std::vector<float> weights = {3, 0, 0, 2, 1, 1};
  Linear linear;
  linear.weight.rows = 3;
  linear.weight.columns = 2;
  linear.weight.data = std::as_bytes(std::span(weights));
  linear.bias = {4, -5, 1};
  const LayerNorm norm{.gamma = {1, 2}, .beta = {0, 1}};
  // 3, 4 | 4, -5 + 2 | 1, 2, 1 + 1
  CHECK(expected_sizes(norm, linear) == std::vector<float>{5, 4, 3});
}

TEST_CASE("factors make small columns as large as the rest, and leave the others alone") {
  Product product(60.0f, 60.0f);
  const std::vector<float> factors = small_column_factors(product.linear.weight);
  for (std::size_t k = 0; k < kDepth; ++k) {
    CAPTURE(k);
    if (k % 64 != 9) {
      CHECK(factors[k] == 1.0f);
      continue;
    }
    CHECK(factors[k] > 30);
    CHECK(factors[k] < 120);
  }
  const Product even(1.0f, 1.0f);
  CHECK(small_column_factors(even.linear.weight) == std::vector<float>(kDepth, 1.0f));
}

}  // namespace verbatim::transformer
