#include "transformer/cpu/self_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "transformer/cpu/row_product.h"

namespace verbatim::transformer {
namespace {

std::vector<float> random_values(std::size_t size, unsigned seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0.0f, scale);
  std::vector<float> values(size);
  for (float& value : values) value = distribution(random);
  return values;
}

// A stacked projection to queries, keys and values, and rows of its input.
struct Source {
  AttentionShape shape;
  std::size_t positions;
  std::vector<float> weights, bias, rows;

  Source(const AttentionShape& of_shape, std::size_t count, float key_bias = 0.0f)
      : shape(of_shape),
        positions(count),
        weights(random_values(3 * shape.width * shape.width, 1, 1.5f / std::sqrt(static_cast<float>(shape.width)))),
        bias(3 * shape.width, 0.0f),
        rows(random_values(count * shape.width, 2)) {
    for (std::size_t i = shape.width; i < 2 * shape.width; ++i) bias[i] = key_bias;
  }

  Linear linear() const {
    Linear linear;
    linear.weight.rows = 3 * shape.width;
    linear.weight.columns = shape.width;
    linear.weight.data = std::as_bytes(std::span(weights));
    linear.bias = bias;
    return linear;
  }

  double projected(std::size_t row, std::size_t output) const {
    double sum = bias[output];
    for (std::size_t k = 0; k < shape.width; ++k) {
      sum += static_cast<double>(weights[output * shape.width + k]) * rows[row * shape.width + k];
    }
    return sum;
  }

  // In double precision, [heads][positions][head_size].
  std::vector<double> expected() const {
    const std::size_t size = shape.head_size();
    std::vector<double> all;
    for (std::size_t head = 0; head < shape.heads; ++head) {
      std::vector<double> query(positions * size), key(positions * size), value(positions * size);
      for (std::size_t i = 0; i < positions * size; ++i) {
        query[i] = projected(i / size, head * size + i % size);
        key[i] = projected(i / size, shape.width + head * size + i % size);
        value[i] = projected(i / size, 2 * shape.width + head * size + i % size);
      }
      for (std::size_t i = 0; i < positions; ++i) {
        std::vector<double> weights_of_keys(positions);
        double total = 0.0, largest = -1e300;
        for (std::size_t j = 0; j < positions; ++j) {
          double score = 0.0;
          for (std::size_t k = 0; k < size; ++k) score += query[i * size + k] * key[j * size + k];
          weights_of_keys[j] = score / std::sqrt(static_cast<double>(size));
          largest = std::max(largest, weights_of_keys[j]);
        }
        for (double& weight : weights_of_keys) total += weight = std::exp(weight - largest);
        for (std::size_t k = 0; k < size; ++k) {
          double sum = 0.0;
          for (std::size_t j = 0; j < positions; ++j) sum += weights_of_keys[j] / total * value[j * size + k];
          all.push_back(sum);
        }
      }
    }
    return all;
  }
};

std::vector<float> attend(const Source& source, const Kernels& kernels, ComputeType type, int threads) {
  const Linear linear = source.linear();
  // Exact projections, so that the attention's own rounding is seen.
  WeightMemory memory(packed_linear_bytes(linear.weight, ComputeType::kFloat32));
  const PackedLinear packed = pack_linear(linear, ComputeType::kFloat32, memory);
  SelfAttention attention(kernels, type, source.shape);
  attention.set_threads(threads);
  attention.reserve(source.positions);
  std::vector<float> scratch;
  // Blocks of different sizes.
  for (std::size_t first = 0; first < source.positions; first += 7) {
    const std::size_t count = std::min<std::size_t>(7, source.positions - first);
    attention.project(packed, reinterpret_cast<const std::byte*>(source.rows.data() + first * source.shape.width),
                      first, count, scratch);
  }
  attention.run(source.positions, threads);
  CHECK(attention.memory_bytes() >= 3 * source.positions * source.shape.width * sizeof(float));
  std::vector<float> all;
  const std::size_t size = source.shape.head_size();
  for (std::size_t head = 0; head < source.shape.heads; ++head) {
    const float* rows = attention.result(head, 0);
    all.insert(all.end(), rows, rows + source.positions * size);
  }
  return all;
}

double distance(const std::vector<float>& ours, const std::vector<double>& expected) {
  REQUIRE(ours.size() == expected.size());
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference += std::pow(ours[i] - expected[i], 2.0);
    size += std::pow(expected[i], 2.0);
  }
  return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("attention of a source to itself, in both types, for any length and size of heads") {
  for (const AttentionShape shape :
       {AttentionShape{64, 1}, AttentionShape{64, 2}, AttentionShape{48, 6}, AttentionShape{80, 2}}) {
    for (const std::size_t positions : {1u, 2u, 15u, 16u, 17u, 31u, 33u, 48u, 97u}) {
      CAPTURE(shape.heads);
      CAPTURE(positions);
      const Source source(shape, positions);
      const std::vector<double> expected = source.expected();
      for (const Kernels* kernels : available_kernels()) {
        CAPTURE(kernels->name);
        CHECK(distance(attend(source, *kernels, ComputeType::kFloat32, 1), expected) < 1e-5);
        const std::vector<float> int8 = attend(source, *kernels, ComputeType::kInt8, 1);
        CHECK(distance(int8, expected) < 0.02);
        CHECK(attend(source, *kernels, ComputeType::kInt8, 3) == int8);
      }
    }
  }
}

TEST_CASE("what all keys have in common costs no precision") {
  const AttentionShape shape{64, 2};
  const Source plain(shape, 60), shifted(shape, 60, 40.0f);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    const double without = distance(attend(plain, *kernels, ComputeType::kInt8, 1), plain.expected());
    // Without the mean's subtraction the scale would be that of 40, and the distance 0.2.
    CHECK(distance(attend(shifted, *kernels, ComputeType::kInt8, 1), shifted.expected()) < 1.5 * without + 0.002);
  }
}

}  // namespace verbatim::transformer
