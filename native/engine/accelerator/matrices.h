#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "accelerator/accelerator.h"

// The accelerator for code without ggml's graphs. It multiplies operands: values of operand_size() bytes, in rows
// without padding.
namespace verbatim::accelerator {

// Converts from[count] to operands; `to` may have any address.
void to_operands(const WeightStore& store, const float* from, std::size_t count, void* to);

// A weight in the accelerator's packed form only. Immutable.
class PackedWeight {
 public:
  PackedWeight() = default;
  // rows: [outputs][inputs]. Throws std::bad_alloc, and std::exception for errors of the accelerator.
  PackedWeight(const WeightStore& store, std::int64_t inputs, std::int64_t outputs, const float* rows);

  std::int64_t inputs() const noexcept { return inputs_; }
  std::int64_t outputs() const noexcept { return outputs_; }
  std::size_t bytes() const noexcept { return bytes_; }
  const void* data() const noexcept { return data_.get(); }

 private:
  std::int64_t inputs_ = 0;
  std::int64_t outputs_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<const void> data_;
};

struct WeightProduct {
  // The epilogue of a product, behind the bias. kAdd adds the product to the result. kGelu is the one by tanh.
  enum class Then { kNothing, kSilu, kRelu, kGelu, kAdd };

  const PackedWeight& weight;
  std::int64_t rows = 0;
  // Operands, [rows][inputs].
  const void* left = nullptr;
  // [outputs], or null.
  const float* bias = nullptr;
  Then then = Then::kNothing;
  // [rows][outputs]: operands or float32.
  void* result = nullptr;
  bool as_operands = false;
};

// Computes products: holds primitives and scratch memory for one window at a time. Not thread-safe. Its methods throw
// std::bad_alloc, and std::exception for errors of the accelerator.
class Multiplier {
 public:
  // store: not null.
  Multiplier(std::shared_ptr<WeightStore> store, int threads);
  ~Multiplier();
  Multiplier(Multiplier&&) noexcept;

  void multiply(const WeightProduct& product);
  // result[rows][columns] = left[rows][depth] * the columns' rows [columns][depth].
  void multiply_by_columns(std::int64_t rows, std::int64_t columns, std::int64_t depth, const void* left,
                           const void* right, float* result);
  // result[rows][columns] = left[rows][depth] * right[depth][columns].
  void multiply_by_rows(std::int64_t rows, std::int64_t columns, std::int64_t depth, const void* left,
                        const void* right, float* result);
  // Bytes of scratch memory so far.
  std::size_t memory_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Runs task(index, thread) for every index below count, with thread below `threads`. Throws what a task throws.
void for_each(std::int64_t count, int threads, const std::function<void(std::int64_t index, std::size_t thread)>& task);

}  // namespace verbatim::accelerator
