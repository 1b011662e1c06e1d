#pragma once

#include <ggml.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "transformer/gpu/device.h"

namespace verbatim::transformer {

// The inputs of a graph in one piece of the device's memory, which one upload fills before each run.
class GpuInputs {
 public:
  explicit GpuInputs(GpuDevice& device) : device_(device), context_(new_gpu_context(kMostInputs)) {}

  // Adds an input [a, b, 1, d]. At most kMostInputs.
  ggml_tensor* add(ggml_type type, std::size_t a, std::size_t b = 1, std::size_t d = 1);
  // Gives memory to all that were added; before a graph that reads them is allocated. Throws EngineError kOutOfMemory.
  void allocate();
  // Removes all inputs and keeps the memory for the next ones.
  void clear();

  // Sets an input's values on the host; null is skipped.
  template <typename T>
  void set(const ggml_tensor* tensor, const std::vector<T>& values) {
    if (tensor) std::memcpy(staging_.data() + place_of(tensor), values.data(), values.size() * sizeof(T));
  }
  // Sends all of them.
  void upload() { device_.upload(storage_tensor_, staging_.data(), staging_.size()); }
  std::size_t memory_bytes() const noexcept;

 private:
  static constexpr std::size_t kMostInputs = 64;

  std::size_t place_of(const ggml_tensor* tensor) const;

  GpuDevice& device_;
  ggml_context_ptr context_;
  std::vector<ggml_tensor*> tensors_;
  std::vector<std::byte> staging_;
  GpuStorage storage_;
  // All bytes of the storage.
  ggml_tensor* storage_tensor_ = nullptr;
};

}  // namespace verbatim::transformer
