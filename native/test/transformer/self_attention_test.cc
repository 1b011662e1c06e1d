#include "transformer/cpu/self_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace verbatim::transformer {
namespace {

std::vector<float> random_values(std::size_t size, unsigned seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0.0f, scale);
  std::vector<float> values(size);
  for (float& value : values) value = distribution(random);
  return values;
}

MatrixView view_of(const std::vector<float>& values, std::size_t columns) {
  MatrixView view;
  view.rows = values.size() / columns;
  view.columns = columns;
  view.data = std::as_bytes(std::span(values));
  return view;
}

// Positions of the table of distances.
constexpr std::size_t kMostPositions = 150;

// A stacked projection to queries, keys and values, and rows of its input; or with scores by distance, too.
struct Source {
  AttentionShape shape;
  std::size_t positions;
  std::vector<float> weights, bias, rows, distances, content_bias, position_bias, identity;

  Source(const AttentionShape& of_shape, std::size_t count, float key_bias = 0.0f, bool is_relative = false)
      : shape(of_shape),
        positions(count),
        weights(random_values(3 * shape.width * shape.width, 1, 1.5f / std::sqrt(static_cast<float>(shape.width)))),
        bias(3 * shape.width, 0.0f),
        rows(random_values(count * shape.width, 2)),
        identity(shape.width * shape.width, 0.0f) {
    for (std::size_t i = shape.width; i < 2 * shape.width; ++i) bias[i] = key_bias;
    for (std::size_t i = 0; i < shape.width; ++i) identity[i * (shape.width + 1)] = 1.0f;
    if (!is_relative) return;
    distances = random_values((2 * kMostPositions - 1) * shape.width, 3, 0.5f);
    content_bias = random_values(shape.width, 4, 0.5f);
    position_bias = random_values(shape.width, 5, 0.5f);
  }

  Linear linear() const { return {view_of(weights, shape.width), bias}; }
  bool is_relative() const { return !distances.empty(); }

  double projected(std::size_t row, std::size_t output) const {
    double sum = bias[output];
    for (std::size_t k = 0; k < shape.width; ++k) {
      sum += static_cast<double>(weights[output * shape.width + k]) * rows[row * shape.width + k];
    }
    return sum;
  }

  // What a relative source adds to the score of key j for query i; both begin at the head's values.
  double distance_score(std::size_t head, std::size_t i, std::size_t j, const double* query, const double* key) const {
    const std::size_t size = shape.head_size();
    const float* const row = distances.data() + (kMostPositions - 1 + j - i) * shape.width + head * size;
    double score = 0.0;
    for (std::size_t k = 0; k < size; ++k) {
      score += content_bias[head * size + k] * key[k] + (query[k] + position_bias[head * size + k]) * row[k];
    }
    return score;
  }

  // In double precision, [positions][width].
  std::vector<double> expected() const {
    const std::size_t size = shape.head_size();
    std::vector<double> all(positions * shape.width);
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
          if (is_relative()) score += distance_score(head, i, j, &query[i * size], &key[j * size]);
          weights_of_keys[j] = score / std::sqrt(static_cast<double>(size));
          largest = std::max(largest, weights_of_keys[j]);
        }
        for (double& weight : weights_of_keys) total += weight = std::exp(weight - largest);
        for (std::size_t k = 0; k < size; ++k) {
          double sum = 0.0;
          for (std::size_t j = 0; j < positions; ++j) sum += weights_of_keys[j] / total * value[j * size + k];
          all[i * shape.width + head * size + k] = sum;
        }
      }
    }
    return all;
  }
};

// Attention in `format`, between projections in `exact`, so that the attention's own rounding is seen.
std::vector<float> attend(const Source& source, const Kernels& kernels, const ProductFormat& format,
                          const ProductFormat& exact, int threads) {
  const std::size_t width = source.shape.width;
  WeightMemory memory(1 << 22);
  const PackedLinear qkv = pack_linear(source.linear(), exact, memory);
  const AttentionOutput output =
      pack_attention_output({view_of(source.identity, width), {}}, source.shape.heads, exact, memory);
  RelativePositions relative;
  if (source.is_relative()) {
    relative = pack_relative_positions(source.distances, source.shape, format, memory);
    relative.content_bias = source.content_bias;
    relative.position_bias = source.position_bias;
  }
  const RelativePositions* const positions = source.is_relative() ? &relative : nullptr;
  const auto attention = make_self_attention(format, kernels, source.shape);
  attention->set_threads(threads);
  const auto multiplier = make_row_multiplier(exact, kernels);
  std::vector<float> scratch, results(source.positions * width, 0.0f);
  std::vector<std::byte> operands(7 * multiplier->row_bytes(width)), bytes;
  // A longer source first, whose keys must not be seen afterwards.
  for (const std::size_t count : {std::min(kMostPositions, source.positions + 20), source.positions}) {
    attention->reserve(count);
    // Blocks of different sizes.
    for (std::size_t first = 0; first < count; first += 7) {
      const PositionBlock block{first, std::min<std::size_t>(7, count - first)};
      for (std::size_t i = 0; i < block.count; ++i) {
        multiplier->write_operands(source.rows.data() + (first + i) % source.positions * width, width,
                                   operands.data() + i * multiplier->row_bytes(width));
      }
      attention->project(qkv, positions, operands.data(), block, *multiplier, scratch);
    }
  }
  attention->run(source.positions, positions, threads);
  CHECK(attention->memory_bytes() > 0);
  for (std::size_t first = 0; first < source.positions; first += 7) {
    const PositionBlock block{first, std::min<std::size_t>(7, source.positions - first)};
    attention->add_result(output, block, results.data() + first * width, *multiplier, bytes);
  }
  return results;
}

std::vector<float> attend(const Source& source, const Kernels& kernels, ComputeType type, int threads) {
  return attend(source, kernels, {type, nullptr}, {ComputeType::kFloat32, nullptr}, threads);
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

TEST_CASE("scores by distance are added to those by content, in windows of every length") {
  for (const AttentionShape shape : {AttentionShape{24, 3}, AttentionShape{64, 1}, AttentionShape{64, 2}}) {
    // Blocks of queries, panels of distances, and the table's last row.
    for (const std::size_t positions : {std::size_t{1}, std::size_t{23}, std::size_t{24}, std::size_t{49},
                                        std::size_t{128}, std::size_t{129}, kMostPositions}) {
      CAPTURE(shape.heads);
      CAPTURE(positions);
      const Source source(shape, positions, 0.0f, true);
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

TEST_CASE("attention on the accelerator, where there is one") {
  for (const auto mode : {AcceleratorMode::kFloat32, AcceleratorMode::kAuto}) {
    const auto store = accelerator::make_weight_store(mode);
    if (!store) continue;
    const ProductFormat format = accelerated_format(store);
    const double bound = format.type == ComputeType::kFloat32 ? 1e-5 : 0.02;
    for (const bool is_relative : {false, true}) {
      for (const std::size_t positions : {std::size_t{1}, std::size_t{17}, std::size_t{129}, kMostPositions}) {
        CAPTURE(is_relative);
        CAPTURE(positions);
        const Source source({48, 3}, positions, 0.0f, is_relative);
        const std::vector<float> one = attend(source, kernels(), format, format, 1);
        CHECK(distance(one, source.expected()) < bound);
        CHECK(attend(source, kernels(), format, format, 3) == one);
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
