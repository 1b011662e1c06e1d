#pragma once

#include <ggml-backend.h>
#include <ggml-cpp.h>

#include <mutex>

#include "transformer/gpu/graph.h"

namespace verbatim::transformer {

// A backend device that computes one graph at a time. Whoever computes, or touches tensors that others write
// too, holds the lock meanwhile.
class GpuDevice {
 public:
  // Throws EngineError kOutOfMemory.
  explicit GpuDevice(ggml_backend_dev_t backend_device);

  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  ggml_backend_buffer_type_t memory() const noexcept { return memory_; }
  // Where the device is a processor: threads of what is computed from now on.
  void set_threads(int threads);
  ggml_gallocr_ptr new_allocator() const;
  // Throws EngineError kOutOfMemory, kInternalError.
  void compute(const GpuGraph& graph) { transformer::compute(graph, backend_.get()); }

 private:
  std::mutex mutex_;
  ggml_backend_ptr backend_;
  ggml_backend_buffer_type_t memory_;
};

}  // namespace verbatim::transformer
