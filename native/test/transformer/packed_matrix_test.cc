#include "transformer/cpu/packed_matrix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "transformer/embedder.h"

namespace {

using namespace verbatim::transformer;

constexpr std::size_t kRows = 40, kColumns = 24;

std::vector<float> random_values() {
  std::mt19937 random(1);
  std::normal_distribution<float> distribution;
  std::vector<float> values(kRows * kColumns);
  for (float& value : values) value = distribution(random);
  return values;
}

MatrixView view_of(const std::vector<float>& values) {
  MatrixView view;
  view.rows = kRows;
  view.columns = kColumns;
  view.data = std::as_bytes(std::span(values));
  return view;
}

// The same rows through a reader, without a known address.
MatrixView reader_of(const std::vector<float>& values) {
  MatrixView view;
  view.rows = kRows;
  view.columns = kColumns;
  // These values have no effect.
  view.type = ElementType::kInt8;
  view.reader = [&values](std::size_t row, std::span<float> out) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * kColumns), kColumns, out.begin());
  };
  return view;
}

std::vector<std::byte> packed(const MatrixView& view, ComputeType type, std::vector<float>& factors) {
  WeightMemory memory(PackedMatrix::bytes(view, type));
  const PackedMatrix matrix(view, type, memory);
  GemmCall call;
  matrix.prepare(call);
  const auto* data = static_cast<const std::byte*>(call.weights);
  if (type == ComputeType::kInt8) factors.assign(call.weight_factors, call.weight_factors + kRows);
  return {data, data + PackedMatrix::bytes(view, type)};
}

}  // namespace

TEST_CASE("a matrix with a row reader is packed like one in memory") {
  const std::vector<float> values = random_values();
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
    CAPTURE(static_cast<int>(type));
    std::vector<float> of_view, of_reader;
    CHECK(packed(view_of(values), type, of_view) == packed(reader_of(values), type, of_reader));
    CHECK(of_view == of_reader);
  }
}

TEST_CASE("embeddings are rounded like weights, or used as stored") {
  const std::vector<float> values = random_values();
  TransformerStack stack;
  stack.embeddings = reader_of(values);
  const std::vector<float> nowhere(kColumns, 0.0f);
  std::vector<float> row(kColumns);
  for (const bool is_rounded : {true, false}) {
    stack.round_embeddings = is_rounded;
    Embedder(stack, ComputeType::kInt8).embed(3, nowhere, row);
    CHECK((std::memcmp(row.data(), values.data() + 3 * kColumns, kColumns * sizeof(float)) != 0) == is_rounded);
  }
}
