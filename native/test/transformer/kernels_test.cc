#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "testing/ct2_writer.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/half.h"
#include "transformer/kernels/kernels.h"

// Every instruction set of this processor against plain loops; bit-identical for any batch.
namespace {

using namespace verbatim::transformer;
using namespace verbatim::translation;

std::vector<float> random_values(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(size);
  for (float& value : values) value = distribution(random);
  return values;
}

// Between -1 and 1, without a function of the C library: the same on every processor.
std::vector<float> even_values(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = (static_cast<float>(random() >> 8) - 8388608.0f) / 8388608.0f;
  return values;
}

struct Matrix {
  std::vector<float> values;
  MatrixView view;
  Matrix(std::size_t rows, std::size_t columns, unsigned seed)
      : Matrix(rows, columns, random_values(rows * columns, seed)) {}
  Matrix(std::size_t rows, std::size_t columns, std::vector<float> of) : values(std::move(of)) {
    view.rows = rows;
    view.columns = columns;
    view.data = std::as_bytes(std::span(values));
  }
};

std::vector<std::int8_t> quantize(const Kernels& kernels, const std::vector<float>& x, std::size_t depth) {
  std::vector<std::int8_t> rows(x.size() / depth * quantized_row_bytes(depth));
  for (std::size_t i = 0; i < x.size() / depth; ++i) {
    kernels.quantize_row(x.data() + i * depth, depth, true, rows.data() + i * quantized_row_bytes(depth));
  }
  return rows;
}

// Weights in one type and rows of input as its kernel takes them.
class Product {
 public:
  Product(const Kernels& kernels, ComputeType type, const MatrixView& weights, const std::vector<float>& x)
      : memory_(PackedMatrix::bytes(weights, type)), matrix_(weights, type, memory_), x_(x) {
    gemm_ = kernels.gemm_float32;
    if (type == ComputeType::kBfloat16) gemm_ = kernels.gemm_bfloat16;
    if (type != ComputeType::kInt8) return;
    gemm_ = kernels.gemm_int8;
    quantized_ = quantize(kernels, x, weights.columns);
  }

  // Of `rows` rows from `first` on.
  std::vector<float> run(std::size_t first, std::size_t rows, const Epilogue& epilogue = {}) const {
    std::vector<float> y(rows * matrix_.outputs());
    GemmCall call;
    matrix_.prepare(call);
    call.x = quantized_.empty() ? static_cast<const void*>(x_.data() + first * matrix_.depth())
                                : quantized_.data() + first * quantized_row_bytes(matrix_.depth());
    call.rows = rows;
    call.last_panel = matrix_.panels();
    call.y = y.data();
    call.ld = matrix_.outputs();
    call.epilogue = epilogue;
    gemm_(call);
    return y;
  }

 private:
  WeightMemory memory_;
  PackedMatrix matrix_;
  const std::vector<float>& x_;
  std::vector<std::int8_t> quantized_;
  void (*gemm_)(const GemmCall&) = nullptr;
};

}  // namespace

TEST_CASE("products in every type, with and without their epilogues") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t outputs : {1u, 31u, 64u, 100u}) {
      const std::size_t depth = 50, rows = 13;
      const Matrix source(outputs, depth, 1);
      const auto x = random_values(rows * depth, 2), bias = random_values(outputs, 3);
      const auto gate = random_values(rows * outputs, 4), residual = random_values(rows * outputs, 5);
      for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
        const Product product(*kernels, type, source.view, x);
        const double tolerance = type == ComputeType::kFloat32 ? 1e-5 : type == ComputeType::kInt8 ? 0.4 : 0.12;
        const auto plain = product.run(0, rows);
        const auto full = product.run(0, rows, {bias.data(), 0, gate.data(), residual.data()});
        for (std::size_t i = 0; i < rows * outputs; ++i) {
          double sum = 0.0;
          for (std::size_t k = 0; k < depth; ++k) {
            sum += static_cast<double>(x[i / outputs * depth + k]) * source.values[i % outputs * depth + k];
          }
          CHECK(std::abs(plain[i] - sum) < tolerance);
          const double expected = std::max(0.0f, plain[i] + bias[i % outputs]) * gate[i] + residual[i];
          CHECK(std::abs(full[i] - expected) < 1e-4);
        }
      }
    }
  }
}

TEST_CASE("a row's result is bit-identical beside any other rows") {
  const std::size_t depth = 64, outputs = 96, most = 40;
  const Matrix source(outputs, depth, 1);
  const auto x = random_values(most * depth, 2);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kInt8}) {
      const Product product(*kernels, type, source.view, x);
      const auto all = product.run(0, most);
      for (std::size_t rows = 1; rows <= most; ++rows) {
        const auto some = product.run(0, rows);
        CHECK(std::memcmp(some.data(), all.data(), some.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("rows beyond a block of the cache are computed as those of the first block, with their own epilogues") {
  struct Size {
    std::size_t depth, outputs, rows;
  };
  // 512 KiB are 26 rows of int8 of the first depth. Floats of both are multiplied in parts of their depth, in blocks of
  // up to 64 rows and eight panels.
  for (const Size size : {Size{20'000, 40, 60}, Size{4'100, 300, 70}}) {
    const Matrix source(size.outputs, size.depth, 1);
    const std::size_t results = size.rows * size.outputs;
    const auto x = random_values(size.rows * size.depth, 2), bias = random_values(size.outputs, 3);
    const auto gate = random_values(results, 4), residual = random_values(results, 5);
    for (const Kernels* kernels : available_kernels()) {
      CAPTURE(kernels->name);
      for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
        const Product product(*kernels, type, source.view, x);
        const auto all = product.run(0, size.rows, {bias.data(), -1, gate.data(), residual.data()});
        for (std::size_t row = 0; row < size.rows; ++row) {
          const std::size_t at = row * size.outputs;
          const auto one = product.run(row, 1, {bias.data(), -1, gate.data() + at, residual.data() + at});
          CHECK(std::memcmp(one.data(), all.data() + at, size.outputs * sizeof(float)) == 0);
        }
      }
    }
  }
}

TEST_CASE("int8 products are the same to the last bit on every processor with fused multiply-adds") {
  std::uint64_t digest = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::size_t depth : {1u, 3u, 4u, 12u, 50u, 64u, 515u}) {
    for (const std::size_t outputs : {1u, 8u, 17u, 31u, 33u, 100u}) {
      CAPTURE(depth);
      CAPTURE(outputs);
      const std::size_t rows = 13;
      const Matrix source(outputs, depth, even_values(outputs * depth, 1));
      const auto x = even_values(rows * depth, 2), bias = even_values(outputs, 3);
      std::vector<float> first;
      for (const Kernels* kernels : available_kernels()) {
        CAPTURE(kernels->name);
        if (std::string_view(kernels->name) == "generic") continue;
        const auto result = Product(*kernels, ComputeType::kInt8, source.view, x).run(0, rows, {bias.data(), -1});
        if (first.empty()) first = result;
        CHECK(std::memcmp(result.data(), first.data(), result.size() * sizeof(float)) == 0);
      }
      for (const float value : first) digest = (digest ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3u;
    }
  }
  // The same on x86-64 and ARM.
  if (available_kernels().size() > 1) CHECK(digest == 0x8e9269d62e30f46eu);
}

TEST_CASE("int8 sums are exact at the ends of the range") {
  const std::size_t depth = 512;
  std::vector<float> extremes(depth);
  for (std::size_t i = 0; i < depth; ++i) extremes[i] = i % 2 == 0 ? 1.0f : -1.0f;
  MatrixView view;
  view.rows = 1;
  view.columns = depth;
  view.data = std::as_bytes(std::span(extremes));
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    CHECK(Product(*kernels, ComputeType::kInt8, view, extremes).run(0, 1).front() ==
          doctest::Approx(512.0).epsilon(1e-6));
  }
}

TEST_CASE("rows are quantized as in CTranslate2 on x86") {
  // The scale is 1. In the sum with 128, a value just below a half becomes one.
  const std::vector<float> x{127.0f, 0.5f, 1.5f, -0.5f, -1.5f, -1.75f, 3.9f, 3.4999998f};
  const auto values = [&](const Kernels& kernels, bool round) {
    std::vector<std::int8_t> row(quantized_row_bytes(x.size()));
    kernels.quantize_row(x.data(), x.size(), round, row.data());
    return std::vector<int>(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(x.size()));
  };
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    CHECK(values(*kernels, true) == std::vector<int>{127, 0, 2, 0, -2, -2, 4, 4});
    CHECK(values(*kernels, false) == std::vector<int>{127, 0, 1, -1, -2, -2, 3, 3});
  }
}

TEST_CASE("the largest values and the normalizer") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t size : {1u, 5u, 64u, 1000u}) {
      auto x = random_values(size, 9);
      if (size > 10) x[3] = x[size - 1] = 9.0f;  // equal values: the lower index comes first
      const std::size_t k = std::min<std::size_t>(size, 8);
      std::vector<std::int32_t> ids(k);
      std::vector<float> values(k);
      kernels->top_k(x.data(), size, k, ids.data(), values.data());
      if (size > 10) CHECK((ids[0] == 3 && ids[1] == static_cast<std::int32_t>(size) - 1));
      double total = 0.0;
      for (const float value : x) total += std::exp(static_cast<double>(value));
      CHECK(kernels->log_sum_exp(x.data(), size, values[0]) == doctest::Approx(std::log(total)).epsilon(1e-6));
      std::vector<float> powers(size + 1, -1.0f);
      kernels->exponentials(x.data(), size, values[0], powers.data());
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(powers[i] == doctest::Approx(std::exp(x[i] - values[0])).epsilon(1e-6));
      }
      CHECK(powers[size] == -1.0f);
      for (std::size_t i = 1; i < k; ++i) CHECK(values[i - 1] >= values[i]);
      CHECK(std::ranges::count_if(x, [&](float value) { return value > values[k - 1]; }) <
            static_cast<std::ptrdiff_t>(k));
    }
  }
}

TEST_CASE("floats are rounded to bfloat16 as in packing") {
  auto x = random_values(67, 5);
  x[0] = std::bit_cast<float>(0x3f808000u);  // ties: to even
  x[1] = std::bit_cast<float>(0x3f818000u);
  x[2] = std::numeric_limits<float>::infinity();
  x[3] = -x[2];
  x[4] = std::bit_cast<float>(0x7f800001u);  // a NaN whose upper half is infinity's
  x[66] = std::bit_cast<float>(0xff80ffffu);
  std::vector<std::uint16_t> expected(x.size());
  std::ranges::transform(x, expected.begin(), float_to_bfloat16);
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t size : {1u, 16u, 66u, 67u}) {
      std::vector<std::uint16_t> out(size + 1, 7);
      kernels->round_to_bfloat16(x.data(), size, out.data());
      CHECK(std::equal(out.begin(), out.end() - 1, expected.begin()));
      CHECK(out.back() == 7);
    }
  }
}

TEST_CASE("a Conformer's operations besides products, at every size") {
  for (const Kernels* kernels : available_kernels()) {
    CAPTURE(kernels->name);
    for (const std::size_t size : {1u, 5u, 16u, 40u, 133u}) {
      const std::size_t taps = 9;
      const auto rows = random_values(taps * size, 1), weights = random_values(taps * size, 2);
      const auto bias = random_values(size, 3), gate = random_values(size, 4);
      std::vector<const float*> pointers;
      for (std::size_t i = 0; i < taps; ++i) pointers.push_back(rows.data() + i * size);
      std::vector<float> mixed(size), swished(size), gated(size), softmax(attention_room(size), 7.0f);
      MixCall call{pointers.data(), weights.data(), taps, bias.data(), -1, size, mixed.data()};
      kernels->mix_rows(call);
      call.activation = static_cast<int>(Activation::kSwish);
      call.out = swished.data();
      kernels->mix_rows(call);
      kernels->gate_row(bias.data(), gate.data(), size, gated.data());
      kernels->softmax_of_sum(bias.data(), gate.data(), size, 0.5f, softmax.data());
      double total = 0.0;
      for (std::size_t i = 0; i < size; ++i) total += std::exp(0.5 * (double(bias[i]) + double(gate[i])));
      for (std::size_t i = 0; i < size; ++i) {
        double sum = bias[i];
        for (std::size_t j = 0; j < taps; ++j) sum += double(weights[j * size + i]) * double(rows[j * size + i]);
        CHECK(mixed[i] == doctest::Approx(sum).epsilon(1e-5));
        CHECK(swished[i] == doctest::Approx(sum / (1.0 + std::exp(-sum))).epsilon(1e-5));
        CHECK(gated[i] == doctest::Approx(double(bias[i]) / (1.0 + std::exp(-double(gate[i])))).epsilon(1e-5));
        const double expected = std::exp(0.5 * (double(bias[i]) + double(gate[i]))) / total;
        CHECK(softmax[i] == doctest::Approx(expected).epsilon(1e-5));
      }
    }
  }
}
