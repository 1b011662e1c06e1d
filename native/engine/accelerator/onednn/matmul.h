#pragma once

#include <compare>
#include <cstdint>
#include <dnnl.hpp>
#include <map>

#include "accelerator/onednn/precision.h"

namespace verbatim::accelerator {

// Applied to a product before it is written. kAdd adds it to the existing result.
enum class Epilogue { kNone, kBias, kGelu, kBiasGelu, kSilu, kBiasSilu, kRelu, kBiasRelu, kAdd, kBiasAdd };

// C[rows, columns] = epilogue(A[rows, depth] B[depth, columns]): A and C row-major.
struct MatmulShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  Epilogue epilogue = Epilogue::kNone;
  // Layout of B: packed() of these columns and this depth; or plain memory with one row for each column of B
  // (kByColumn, ggml's layout of weights) or for each row of B (kByRow).
  enum class Operand { kPacked, kByColumn, kByRow } operand = Operand::kPacked;
  // Type of A and B.
  DataType type = DataType::bf16;
  // Type of C.
  DataType result = DataType::f32;
  // Threads of one execution. oneDNN uses the number at the time when a primitive is made.
  int threads = 1;

  auto operator<=>(const MatmulShape&) const = default;
};

// The layout of packed weights of this size, which serves products of any number of rows.
dnnl::memory::desc packed_layout(const dnnl::engine& engine, std::int64_t columns, std::int64_t depth, DataType type);

struct Matmul {
  dnnl::matmul primitive;
  dnnl::matmul::primitive_desc description;
};

// Primitives by shape, made on first use. Not thread-safe.
class MatmulCache {
 public:
  explicit MatmulCache(const dnnl::engine& engine) : engine_(engine) {}
  // Throws dnnl::error. The reference stays valid until the next call of get().
  const Matmul& get(const MatmulShape& shape);

 private:
  // Windows have few lengths, prompts many: enough for any mix, and bounded.
  static constexpr std::size_t kMost = 512;
  dnnl::engine engine_;
  std::map<MatmulShape, Matmul> matmuls_;
};

}  // namespace verbatim::accelerator
