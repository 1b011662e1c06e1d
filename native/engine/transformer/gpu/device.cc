#include "transformer/gpu/device.h"

#include <ggml-cpu.h>
#include <ggml.h>

#include <utility>

#include "error.h"
#include "transformer/gpu/device_errors.h"

namespace verbatim::transformer {
namespace {

bool computes(const ggml_tensor& node) {
  return node.op != GGML_OP_NONE && node.op != GGML_OP_RESHAPE && node.op != GGML_OP_VIEW &&
         node.op != GGML_OP_PERMUTE && node.op != GGML_OP_TRANSPOSE && ggml_nelements(&node) > 0;
}

// ggml's Vulkan backend reads wrong values of matrices with contiguous rows that are not contiguous as a whole, and
// rounds others that are not contiguous to float16. Graphs make matrices contiguous first.
bool is_misread(const ggml_tensor& node) {
  return node.op == GGML_OP_MUL_MAT && !(ggml_is_contiguous(node.src[0]) && ggml_is_contiguous(node.src[1]));
}

}  // namespace

GpuDevice::GpuDevice(ggml_backend_dev_t backend_device) : backend_device_(backend_device) {
  on_device([&] {
    backend_.reset(ggml_backend_dev_init(backend_device, nullptr));
    memory_ = ggml_backend_dev_buffer_type(backend_device);
  });
  if (!backend_) throw_out_of_device_memory();
}

void GpuDevice::set_threads(int threads) {
  if (ggml_backend_is_cpu(backend_.get())) ggml_backend_cpu_set_n_threads(backend_.get(), threads);
}

ggml_gallocr_ptr GpuDevice::new_allocator() const {
  ggml_gallocr_ptr allocator(ggml_gallocr_new(memory_));
  if (!allocator) throw_out_of_device_memory();
  return allocator;
}

GpuStorage GpuDevice::new_storage(ggml_context_ptr context) {
  GpuStorage storage{std::move(context), {}};
  on_device([&] {
    storage.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(storage.context.get(), memory_));
    if (storage.buffer) ggml_backend_buffer_clear(storage.buffer.get(), 0);
  });
  if (!storage.buffer) throw_out_of_device_memory();
  ++traffic_.allocations;
  return storage;
}

void GpuDevice::allocate(ggml_cgraph* nodes, ggml_gallocr_t allocator) {
  const std::size_t before = ggml_gallocr_get_buffer_size(allocator, 0);
  bool allocated = false;
  on_device([&] {
    const bool is_processor = ggml_backend_buft_is_host(memory_);
    for (int i = 0; i < ggml_graph_n_nodes(nodes); ++i) {
      const ggml_tensor* const node = ggml_graph_node(nodes, i);
      if ((!is_processor && is_misread(*node)) || !ggml_backend_dev_supports_op(backend_device_, node))
        throw_unsupported(*node, backend_device_);
    }
    allocated = ggml_gallocr_alloc_graph(allocator, nodes);
  });
  if (!allocated) throw_out_of_device_memory();
  if (ggml_gallocr_get_buffer_size(allocator, 0) != before) ++traffic_.allocations;
}

void GpuDevice::compute(ggml_cgraph* nodes) {
  const ggml_status status = on_device([&] { return ggml_backend_graph_compute(backend_.get(), nodes); });
  if (status == GGML_STATUS_ALLOC_FAILED) throw_out_of_device_memory();
  if (status != GGML_STATUS_SUCCESS) throw EngineError(ErrorCode::kInternalError, "ggml could not run the graph");
  ++traffic_.computations;
  for (int i = 0; i < ggml_graph_n_nodes(nodes); ++i) traffic_.nodes += computes(*ggml_graph_node(nodes, i)) ? 1 : 0;
}

void GpuDevice::upload(ggml_tensor* tensor, const void* data, std::size_t bytes) {
  on_device([&] { ggml_backend_tensor_set(tensor, data, 0, bytes); });
  ++traffic_.uploads;
  traffic_.uploaded_bytes += bytes;
}

void GpuDevice::download(const ggml_tensor* tensor, void* data, std::size_t bytes) {
  on_device([&] { ggml_backend_tensor_get(tensor, data, 0, bytes); });
  ++traffic_.downloads;
  traffic_.downloaded_bytes += bytes;
}

void GpuDevice::clear(ggml_tensor* tensor, std::size_t offset, std::size_t bytes) {
  on_device([&] { ggml_backend_tensor_memset(tensor, 0, offset, bytes); });
}

}  // namespace verbatim::transformer
