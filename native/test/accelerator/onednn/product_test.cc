// The accelerator's operations against double precision. Compiled only in builds with oneDNN.
#include <doctest/doctest.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/random_models/noise.h"

namespace verbatim {
namespace {

struct Deleter {
  void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
  void operator()(ggml_context* context) const { ggml_free(context); }
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

ggml_backend_dev_t accelerator_device() { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_ACCEL); }

Owned<ggml_context> make_context() { return Owned<ggml_context>(ggml_init({4 * 1024 * 1024, nullptr, true})); }

// Stores random values in the tensor's type; returns them as stored.
std::vector<float> fill(ggml_tensor* tensor, unsigned seed) {
  const std::vector<float> values = random_models::noise(static_cast<std::size_t>(ggml_nelements(tensor)), seed);
  if (tensor->type == GGML_TYPE_F32) {
    ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
    return values;
  }
  std::vector<char> stored(ggml_nbytes(tensor));
  ggml_quantize_chunk(tensor->type, values.data(), stored.data(), 0, ggml_nrows(tensor), tensor->ne[0], nullptr);
  ggml_backend_tensor_set(tensor, stored.data(), 0, stored.size());
  std::vector<float> held(values.size());
  ggml_get_type_traits(tensor->type)->to_float(stored.data(), held.data(), ggml_nelements(tensor));
  return held;
}

double gelu(double x) { return 0.5 * x * (1.0 + std::tanh(0.79788456080286535588 * x * (1.0 + 0.044715 * x * x))); }

// bfloat16 operands have a relative error of at most 2^-9 each. float32 sums and GELU (slope below 1.13) add little.
constexpr double kBfloat16Tolerance = 1.25 / 256;
constexpr double kFloat32Tolerance = 1e-6;

struct Case {
  std::int64_t rows, depth, columns;
  ggml_type type;
  bool bias, gelu;
};

// The largest error relative to the tolerance of its element.
double worst_error(const Case& c, int threads, AcceleratorMode accelerator, double tolerance) {
  const auto store = accelerator::make_weight_store(accelerator);
  const accelerator::StateScope scope(store);
  const Owned<ggml_backend> backend(ggml_backend_dev_init(accelerator_device(), nullptr));
  REQUIRE(backend);
  const Owned<ggml_context> weights = make_context();
  ggml_tensor* const matrix = ggml_new_tensor_2d(weights.get(), c.type, c.depth, c.rows);
  ggml_tensor* const bias = ggml_new_tensor_1d(weights.get(), GGML_TYPE_F32, c.rows);
  const Owned<ggml_backend_buffer> weight_buffer(ggml_backend_alloc_ctx_tensors(weights.get(), backend.get()));
  ggml_backend_buffer_set_usage(weight_buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);

  const Owned<ggml_context> context = make_context();
  ggml_tensor* const input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, c.depth, c.columns);
  ggml_tensor* result = ggml_mul_mat(context.get(), matrix, input);
  REQUIRE(ggml_backend_dev_supports_op(accelerator_device(), result));
  if (c.bias) result = ggml_add(context.get(), result, bias);
  if (c.gelu) result = ggml_gelu(context.get(), result);
  REQUIRE(ggml_backend_dev_supports_op(accelerator_device(), result));
  CHECK(scope.took_weights());
  const Owned<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
  const std::vector<float> a = fill(matrix, 1);
  const std::vector<float> b = fill(bias, 2);
  const std::vector<float> x = fill(input, 3);

  auto* const registry = ggml_backend_dev_backend_reg(accelerator_device());
  const auto set_threads = reinterpret_cast<ggml_backend_set_n_threads_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads"));
  REQUIRE((set_threads != nullptr));
  set_threads(backend.get(), threads);
  ggml_cgraph* const graph = ggml_new_graph(context.get());
  ggml_build_forward_expand(graph, result);
  // Computed twice: the second time the weights are packed already.
  REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
  const std::size_t packed = accelerator::packed_bytes(store.get());
  CHECK(packed >= static_cast<std::size_t>(c.rows * c.depth) * accelerator::operand_size(store.get()));
  REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
  CHECK(accelerator::packed_bytes(store.get()) == packed);

  const auto* y = static_cast<const float*>(result->data);
  double worst = 0;
  for (std::int64_t column = 0; column < c.columns; ++column) {
    for (std::int64_t row = 0; row < c.rows; ++row) {
      double sum = c.bias ? b[static_cast<std::size_t>(row)] : 0.0;
      double magnitude = std::abs(sum);
      for (std::int64_t i = 0; i < c.depth; ++i) {
        const double term = static_cast<double>(a[static_cast<std::size_t>(row * c.depth + i)]) *
                            x[static_cast<std::size_t>(column * c.depth + i)];
        sum += term;
        magnitude += std::abs(term);
      }
      const double expected = c.gelu ? gelu(sum) : sum;
      const double error = std::abs(y[column * c.rows + row] - expected);
      // Written so that a NaN does not count as a small error.
      if (!(error <= tolerance * magnitude))
        worst = std::max(worst, std::isnan(error) ? 1e9 : error / (tolerance * magnitude));
    }
  }
  return worst;
}

std::vector<double> reference_attention(const std::vector<float>& q, const std::vector<float>& k,
                                        const std::vector<float>& v, std::size_t width, std::size_t queries,
                                        std::size_t keys, std::size_t heads, double scale) {
  std::vector<double> result(width * queries * heads);
  std::vector<double> weights(keys);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < queries; ++i) {
      double total = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < width; ++d) {
          score += static_cast<double>(q[(h * queries + i) * width + d]) * k[(h * keys + j) * width + d];
        }
        total += weights[j] = std::exp(scale * score);
      }
      for (std::size_t j = 0; j < keys; ++j) {
        for (std::size_t d = 0; d < width; ++d) {
          result[(i * heads + h) * width + d] += weights[j] / total * v[(h * keys + j) * width + d];
        }
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("accelerator: products are as precise as their operands' type allows") {
  const Case cases[] = {
      {64, 64, 240, GGML_TYPE_F32, false, false},      {192, 192, 256, GGML_TYPE_F16, false, false},
      {768, 192, 257, GGML_TYPE_F16, true, true},      {192, 768, 399, GGML_TYPE_Q5_1, true, false},
      {384, 384, 1500, GGML_TYPE_F16, true, false},    {512, 2048, 257, GGML_TYPE_F16, true, false},
      {100, 96, 331, GGML_TYPE_F32, true, true},       {33, 160, 277, GGML_TYPE_Q8_0, true, true},
      {1280, 1280, 250, GGML_TYPE_Q4_0, false, false}, {2048, 512, 300, GGML_TYPE_Q8_0, true, true},
  };
  for (const Case& c : cases) {
    for (const int threads : {1, 2}) {
      CAPTURE(c.rows);
      CAPTURE(c.depth);
      CAPTURE(c.columns);
      CAPTURE(std::string(ggml_type_name(c.type)));
      CAPTURE(threads);
      CHECK(worst_error(c, threads, AcceleratorMode::kAuto, kBfloat16Tolerance) == 0.0);
    }
    CHECK(worst_error(c, 2, AcceleratorMode::kFloat32, kFloat32Tolerance) == 0.0);
  }
}

TEST_CASE("accelerator: a feed-forward block has the same result whether or not its inner result is read") {
  for (const AcceleratorMode mode : {AcceleratorMode::kAuto, AcceleratorMode::kFloat32}) {
    constexpr std::int64_t kWidth = 192;
    constexpr std::int64_t kColumns = 300;
    const accelerator::StateScope scope(accelerator::make_weight_store(mode));
    std::vector<float> blocks[2];
    for (const bool inner_wanted : {false, true}) {
      const Owned<ggml_backend> backend(ggml_backend_dev_init(accelerator_device(), nullptr));
      const Owned<ggml_context> weights = make_context();
      ggml_tensor* const up = ggml_new_tensor_2d(weights.get(), GGML_TYPE_F16, kWidth, 4 * kWidth);
      ggml_tensor* const up_bias = ggml_new_tensor_1d(weights.get(), GGML_TYPE_F32, 4 * kWidth);
      ggml_tensor* const down = ggml_new_tensor_2d(weights.get(), GGML_TYPE_F16, 4 * kWidth, kWidth);
      ggml_tensor* const down_bias = ggml_new_tensor_1d(weights.get(), GGML_TYPE_F32, kWidth);
      const Owned<ggml_backend_buffer> weight_buffer(ggml_backend_alloc_ctx_tensors(weights.get(), backend.get()));
      ggml_backend_buffer_set_usage(weight_buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
      const Owned<ggml_context> context = make_context();
      ggml_tensor* const input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, kWidth, kColumns);
      ggml_tensor* const inner =
          ggml_gelu(context.get(), ggml_add(context.get(), ggml_mul_mat(context.get(), up, input), up_bias));
      ggml_tensor* const result = ggml_add(context.get(), ggml_mul_mat(context.get(), down, inner), down_bias);
      if (inner_wanted) ggml_set_output(inner);
      const Owned<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
      unsigned seed = 20;
      for (ggml_tensor* tensor : {up, up_bias, down, down_bias, input}) fill(tensor, ++seed);
      constexpr float kUntouched = 12345.0f;
      ggml_backend_tensor_set(inner, &kUntouched, 0, sizeof(kUntouched));
      ggml_cgraph* const graph = ggml_new_graph(context.get());
      ggml_build_forward_expand(graph, result);
      REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
      const auto* values = static_cast<const float*>(result->data);
      blocks[inner_wanted ? 1 : 0].assign(values, values + ggml_nelements(result));
      CHECK((*static_cast<const float*>(inner->data) != kUntouched) == inner_wanted);
    }
    CHECK(blocks[0] == blocks[1]);
  }
}

TEST_CASE("accelerator: attention agrees with double precision") {
  for (const std::int64_t queries : {240, 256, 399}) {
    constexpr std::int64_t kWidth = 64;
    constexpr std::int64_t kHeads = 3;
    const std::int64_t keys = (queries + 255) / 256 * 256;
    const accelerator::StateScope scope(accelerator::make_weight_store(AcceleratorMode::kAuto));
    const Owned<ggml_backend> backend(ggml_backend_dev_init(accelerator_device(), nullptr));
    const Owned<ggml_context> context = make_context();
    ggml_tensor* const q = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, kWidth, queries, kHeads);
    ggml_tensor* const k = ggml_new_tensor_3d(context.get(), GGML_TYPE_F16, kWidth, keys, kHeads);
    ggml_tensor* const v = ggml_new_tensor_3d(context.get(), GGML_TYPE_F16, kWidth, keys, kHeads);
    ggml_tensor* const result = ggml_flash_attn_ext(context.get(), q, k, v, nullptr, 0.5f, 0.0f, 0.0f);
    REQUIRE(ggml_backend_dev_supports_op(accelerator_device(), result));
    const Owned<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
    const auto qs = fill(q, 4);
    const auto ks = fill(k, 5);
    const auto vs = fill(v, 6);
    ggml_cgraph* const graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, result);
    REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
    const auto expected = reference_attention(qs, ks, vs, kWidth, static_cast<std::size_t>(queries),
                                              static_cast<std::size_t>(keys), kHeads, 0.5);
    const auto* actual = static_cast<const float*>(result->data);
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    CAPTURE(queries);
    CHECK(std::sqrt(difference / norm) < 0.01);
  }
}

TEST_CASE("accelerator: operations that would not be faster are left to the CPU") {
  accelerator::make_weight_store(AcceleratorMode::kAuto);
  const Owned<ggml_context> context = make_context();
  const auto product = [&](std::int64_t rows, std::int64_t depth, std::int64_t columns) {
    return ggml_mul_mat(context.get(), ggml_new_tensor_2d(context.get(), GGML_TYPE_F16, depth, rows),
                        ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, depth, columns));
  };
  CHECK(ggml_backend_dev_supports_op(accelerator_device(), product(512, 512, 1500)));
  CHECK_FALSE(ggml_backend_dev_supports_op(accelerator_device(), product(512, 512, 1)));
  CHECK_FALSE(ggml_backend_dev_supports_op(accelerator_device(), product(512, 512, 8)));
  CHECK_FALSE(ggml_backend_dev_supports_op(accelerator_device(), product(51865, 512, 100)));
}

TEST_CASE("accelerator: weights repacked by ggml are left to ggml, and in a load scope none are repacked") {
  const auto store = accelerator::make_weight_store(AcceleratorMode::kAuto);
  const auto extra_types = [] {
    return reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  };
  {
    const accelerator::LoadScope scope(store.get());
    CHECK((extra_types() == nullptr));
  }
  {
    const accelerator::LoadScope scope(nullptr);
    CHECK((extra_types() != nullptr));
  }
  REQUIRE((extra_types() != nullptr));
  ggml_backend_buffer_type_t* type = extra_types()(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
  for (; *type != nullptr; ++type) {
    CAPTURE(std::string(ggml_backend_buft_name(*type)));
    const Owned<ggml_context> weights = make_context();
    ggml_tensor* const matrix = ggml_new_tensor_2d(weights.get(), GGML_TYPE_Q4_0, 512, 512);
    const Owned<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors_from_buft(weights.get(), *type));
    ggml_backend_buffer_set_usage(buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    const Owned<ggml_context> context = make_context();
    ggml_tensor* const columns = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, 512, 1500);
    const accelerator::StateScope state(store);
    CHECK_FALSE(ggml_backend_dev_supports_op(accelerator_device(), ggml_mul_mat(context.get(), matrix, columns)));
    CHECK_FALSE(state.took_weights());
  }
}

TEST_CASE("accelerator: a state made outside a scope does not use it") {
  accelerator::make_weight_store(AcceleratorMode::kAuto);
  CHECK(ggml_backend_dev_init(accelerator_device(), nullptr) == nullptr);
}

}  // namespace verbatim
