#pragma once

#include <ggml-backend.h>
#include <ggml-cpp.h>

#include <mutex>

#include "transformer/gpu/graph.h"

namespace verbatim::transformer {

// A backend device that computes one graph at a time. A thread must hold the lock while it computes, or uses tensors
// that others write.
class GpuDevice {
 public:
  // Throws EngineError kOutOfMemory.
  explicit GpuDevice(ggml_backend_dev_t backend_device);

  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  ggml_backend_buffer_type_t memory() const noexcept { return memory_; }
  // Sets the threads of later computations if the device is a processor.
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
