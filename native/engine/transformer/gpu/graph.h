#pragma once

#include <ggml-cpp.h>

#include <cstddef>
#include <cstdint>

// ggml graphs and their inputs.
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

// Most tensors in the graph of a whole model.
constexpr std::size_t kMostGpuNodes = 16384;

// A context for the descriptions of so many tensors and of a graph of them. Throws EngineError kOutOfMemory.
ggml_context_ptr new_gpu_context(std::size_t tensors = kMostGpuNodes);

GpuGraph new_gpu_graph(std::size_t tensors = kMostGpuNodes);

// Adds an input [a, b, 1, d], to be filled before each run.
ggml_tensor* add_input(const GpuGraph& graph, ggml_type type, std::size_t a, std::size_t b = 1, std::size_t d = 1);

}  // namespace verbatim::transformer
