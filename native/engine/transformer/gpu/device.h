#pragma once

#include <ggml-backend.h>
#include <ggml-cpp.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "transformer/gpu/graph.h"

namespace verbatim::transformer {

// What one GpuDevice has done so far.
struct GpuTraffic {
  // Graphs, and their nodes that compute something. None is computed elsewhere.
  std::uint64_t computations = 0;
  std::uint64_t nodes = 0;
  // Calls and bytes from the host and to it.
  std::uint64_t uploads = 0;
  std::uint64_t uploaded_bytes = 0;
  std::uint64_t downloads = 0;
  std::uint64_t downloaded_bytes = 0;
  // Buffers of the device that were allocated or enlarged.
  std::uint64_t allocations = 0;
};

// A backend device that computes one graph at a time. A thread must hold the lock while it computes, or uses tensors
// that others write. Every call throws EngineError kOutOfMemory, and kDeviceLost when the device is gone.
class GpuDevice {
 public:
  explicit GpuDevice(ggml_backend_dev_t backend_device);

  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  ggml_backend_buffer_type_t memory() const noexcept { return memory_; }
  // Sets the threads of later computations if the device is a processor.
  void set_threads(int threads);
  ggml_gallocr_ptr new_allocator() const;
  // Allocates all tensors of the context, zeroed.
  GpuStorage new_storage(ggml_context_ptr context);
  // Allocates the graph's tensors; they stay until the next call with the same allocator. Throws EngineError
  // kDeviceUnavailable with the name of a node that the device does not compute.
  void allocate(ggml_cgraph* nodes, ggml_gallocr_t allocator);
  // Throws EngineError kInternalError as well.
  void compute(ggml_cgraph* nodes);

  void upload(ggml_tensor* tensor, const void* data, std::size_t bytes);
  void download(const ggml_tensor* tensor, void* data, std::size_t bytes);
  // Sets bytes of the tensor to zero.
  void clear(ggml_tensor* tensor, std::size_t offset, std::size_t bytes);

  const GpuTraffic& traffic() const noexcept { return traffic_; }

 private:
  std::mutex mutex_;
  ggml_backend_dev_t backend_device_;
  ggml_backend_ptr backend_;
  ggml_backend_buffer_type_t memory_;
  GpuTraffic traffic_;
};

}  // namespace verbatim::transformer
