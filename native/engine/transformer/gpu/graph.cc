#include "transformer/gpu/graph.h"

#include <ggml.h>

#include "error.h"

namespace verbatim::transformer {
void throw_out_of_device_memory() {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory on the device for what is decoded");
}

ggml_context_ptr new_gpu_context(std::size_t tensors) {
  ggml_context_ptr context(
      ggml_init({ggml_tensor_overhead() * tensors + ggml_graph_overhead_custom(tensors, false), nullptr, true}));
  if (!context) throw_out_of_device_memory();
  return context;
}

GpuGraph new_gpu_graph(std::size_t tensors) {
  GpuGraph graph;
  graph.context = new_gpu_context(tensors);
  graph.nodes = ggml_new_graph_custom(graph.context.get(), tensors, false);
  return graph;
}

GpuStorage new_gpu_storage(ggml_context_ptr context, ggml_backend_buffer_type_t memory) {
  GpuStorage storage{std::move(context), {}};
  storage.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(storage.context.get(), memory));
  if (!storage.buffer) throw_out_of_device_memory();
  return storage;
}

ggml_tensor* add_input(const GpuGraph& graph, ggml_type type, std::size_t a, std::size_t b, std::size_t d) {
  ggml_tensor* tensor = ggml_new_tensor_4d(graph.context.get(), type, dim(a), dim(b), 1, dim(d));
  ggml_set_input(tensor);
  return tensor;
}

void allocate(const GpuGraph& graph, ggml_gallocr_t allocator) {
  if (!ggml_gallocr_alloc_graph(allocator, graph.nodes)) throw_out_of_device_memory();
}

void compute(const GpuGraph& graph, ggml_backend_t backend) {
  const ggml_status status = ggml_backend_graph_compute(backend, graph.nodes);
  if (status == GGML_STATUS_ALLOC_FAILED) throw_out_of_device_memory();
  if (status != GGML_STATUS_SUCCESS) throw EngineError(ErrorCode::kInternalError, "ggml could not run the graph");
}

}  // namespace verbatim::transformer
