#include "transformer/gpu/graph.h"

#include <ggml.h>

#include "transformer/gpu/device_errors.h"

namespace verbatim::transformer {

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

ggml_tensor* add_input(const GpuGraph& graph, ggml_type type, std::size_t a, std::size_t b, std::size_t d) {
  ggml_tensor* tensor = ggml_new_tensor_4d(graph.context.get(), type, dim(a), dim(b), 1, dim(d));
  ggml_set_input(tensor);
  return tensor;
}

}  // namespace verbatim::transformer
