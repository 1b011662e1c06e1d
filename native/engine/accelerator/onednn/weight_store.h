#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <mutex>

#include "accelerator/accelerator.h"
#include "accelerator/onednn/buffer.h"
#include "accelerator/onednn/precision.h"

struct ggml_tensor;

namespace verbatim::accelerator {

// The CPU engine of oneDNN: stateless, one for the process.
const dnnl::engine& cpu_engine();

class WeightStore {
 public:
  explicit WeightStore(DataType type) : type_(type) {}

  DataType type() const noexcept { return type_; }
  std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  // Number of products with packed weights; the code that computes them counts.
  std::uint64_t products() const noexcept { return products_.load(std::memory_order_relaxed); }
  void count_product() noexcept { products_.fetch_add(1, std::memory_order_relaxed); }

  // The weight in packed_layout(). Packed on the first call, while other callers wait. The pointer is valid as long as
  // the store. Throws std::bad_alloc, dnnl::error.
  const void* packed(const ggml_tensor& weight);

 private:
  void pack(const ggml_tensor& weight, Buffer& target);

  DataType type_;
  std::mutex mutex_;
  // By the address of the weight's data, which does not change while its model lives.
  std::map<const void*, Buffer> weights_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> products_{0};
};

}  // namespace verbatim::accelerator
