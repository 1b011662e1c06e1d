#pragma once

#include <compare>
#include <cstdint>
#include <dnnl.hpp>
#include <map>

#include "accelerator/onednn/precision.h"

namespace verbatim::accelerator {

// What happens to a product before it is written; kAdd adds it to what is there.
enum class Epilogue { kNone, kBias, kBiasGelu, kSilu, kBiasSilu, kRelu, kBiasRelu, kAdd };

// C[rows, columns] = epilogue(scale * A[rows, depth] B[depth, columns]): A and C row-major.
struct MatmulShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  Epilogue epilogue = Epilogue::kNone;
  float scale = 1.0f;
  // B's layout: packed() of these columns and this depth; else one row of memory a column of B (kByColumn,
  // ggml's layout of weights) or a row of B (kByRow).
  enum class Operand { kPacked, kByColumn, kByRow } operand = Operand::kPacked;
  // A and B.
  DataType type = DataType::bf16;
  // C.
  DataType result = DataType::f32;
  // Threads that one execution uses. oneDNN plans for the number it finds when a primitive is made.
  int threads = 1;

  auto operator<=>(const MatmulShape&) const = default;
};

// The one layout of packed weights of this size that products of any number of rows are computed with.
dnnl::memory::desc packed_layout(const dnnl::engine& engine, std::int64_t columns, std::int64_t depth,
                                 DataType type);

struct Matmul {
  dnnl::matmul primitive;
  dnnl::matmul::primitive_desc description;
};

// Primitives by shape, made when first needed. Not thread-safe.
class MatmulCache {
 public:
  explicit MatmulCache(const dnnl::engine& engine) : engine_(engine) {}
  // Throws dnnl::error. The reference stays valid until the next call of get().
  const Matmul& get(const MatmulShape& shape);

 private:
  // Windows come in few lengths, prompts in many: enough for any mix, bounded for the rest.
  static constexpr std::size_t kMost = 512;
  dnnl::engine engine_;
  std::map<MatmulShape, Matmul> matmuls_;
};

}  // namespace verbatim::accelerator
