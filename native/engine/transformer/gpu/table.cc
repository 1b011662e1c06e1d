#include "transformer/gpu/table.h"

#include <string>
#include <utility>

#include "error.h"

namespace verbatim::transformer {

void GpuTable::resize(GpuDevice& device, ggml_type type, const Shape& shape, bool keep) {
  // Frees the old table first if it need not be kept.
  if (!keep) *this = {};
  ggml_context_ptr context = new_gpu_context(1);
  ggml_tensor* grown =
      ggml_new_tensor_4d(context.get(), type, dim(shape[0]), dim(shape[1]), dim(shape[2]), dim(shape[3]));
  GpuStorage storage = device.new_storage(std::move(context));
  if (tensor_) {
    const GpuGraph graph = new_gpu_graph(8);
    ggml_tensor* corner = ggml_view_4d(graph.context.get(), grown, tensor_->ne[0], tensor_->ne[1], tensor_->ne[2],
                                       tensor_->ne[3], grown->nb[1], grown->nb[2], grown->nb[3], 0);
    ggml_build_forward_expand(graph.nodes, ggml_cpy(graph.context.get(), tensor_, corner));
    const ggml_gallocr_ptr allocator = device.new_allocator();
    device.allocate(graph.nodes, allocator.get());
    device.compute(graph.nodes);
  }
  storage_ = std::move(storage);
  tensor_ = grown;
}

ggml_type cache_element_type(ComputeType type, std::string_view what) {
  if (type == ComputeType::kFloat32) return GGML_TYPE_F32;
  if (type == ComputeType::kFloat16) return GGML_TYPE_F16;
  throw EngineError(
      ErrorCode::kInvalidArgument,
      "no " + std::string(what) + " in " + std::string(compute_type_name(type)) + "; float32 and float16 are allowed");
}

}  // namespace verbatim::transformer
