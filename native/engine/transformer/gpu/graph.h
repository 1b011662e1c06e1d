#pragma once

#include <ggml-cpp.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// ggml graphs, their inputs, and memory on a backend device.
namespace verbatim::transformer {

inline std::int64_t dim(std::size_t size) { return static_cast<std::int64_t>(size); }

// A graph and the descriptions of its tensors.
struct GpuGraph {
  ggml_context_ptr context;
  ggml_cgraph* nodes = nullptr;
  ggml_tensor* input = nullptr;
  ggml_tensor* output = nullptr;
};

// Tensors that outlive a graph.
struct GpuStorage {
  ggml_context_ptr context;
  ggml_backend_buffer_ptr buffer;
};

[[noreturn]] void throw_out_of_device_memory();

// Most tensors in the graph of a whole model.
constexpr std::size_t kMostGpuNodes = 16384;

// A context for the descriptions of so many tensors and of a graph of them. Throws EngineError kOutOfMemory.
ggml_context_ptr new_gpu_context(std::size_t tensors = kMostGpuNodes);

GpuGraph new_gpu_graph(std::size_t tensors = kMostGpuNodes);

// Allocates all tensors of the context. Throws EngineError kOutOfMemory.
GpuStorage new_gpu_storage(ggml_context_ptr context, ggml_backend_buffer_type_t memory);

// Adds an input [a, b, 1, d], to be filled before each run.
ggml_tensor* add_input(const GpuGraph& graph, ggml_type type, std::size_t a, std::size_t b = 1, std::size_t d = 1);

// Fills an input. One that the graph does not use has no memory and is skipped.
template <typename T>
void set_input(ggml_tensor* tensor, const std::vector<T>& values) {
  if (tensor && tensor->buffer) ggml_backend_tensor_set(tensor, values.data(), 0, values.size() * sizeof(T));
}

// Allocates the graph's tensors; they stay until the next call with the same allocator. Throws EngineError
// kOutOfMemory.
void allocate(const GpuGraph& graph, ggml_gallocr_t allocator);

// Throws EngineError: kOutOfMemory, kInternalError.
void compute(const GpuGraph& graph, ggml_backend_t backend);

}  // namespace verbatim::transformer
