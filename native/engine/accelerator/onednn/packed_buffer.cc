#include "accelerator/onednn/packed_buffer.h"

#include <ggml-backend-impl.h>

#include <algorithm>
#include <memory>
#include <new>
#include <tuple>

#include "accelerator/graph.h"
#include "accelerator/onednn/buffer.h"
#include "accelerator/onednn/matmul.h"
#include "accelerator/onednn/weight_store.h"

namespace verbatim::accelerator {
namespace {

DataType data_type(ggml_type type) { return type == GGML_TYPE_BF16 ? DataType::bf16 : DataType::f32; }

ggml_backend_buffer_i buffer_interface() {
  ggml_backend_buffer_i i{};
  i.free_buffer = [](ggml_backend_buffer_t buffer) {
    const std::unique_ptr<Buffer> memory(static_cast<Buffer*>(buffer->context));
  };
  i.get_base = [](ggml_backend_buffer_t buffer) { return static_cast<Buffer*>(buffer->context)->reserve(0); };
  return i;
}

ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t bytes) {
  try {
    auto memory = std::make_unique<Buffer>();
    memory->reserve(bytes);
    ggml_backend_buffer_t const buffer = ggml_backend_buffer_init(type, buffer_interface(), memory.get(), bytes);
    std::ignore = memory.release();
    return buffer;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

dnnl::memory::desc layout_of(const ggml_tensor& matrix) {
  return packed_layout(cpu_engine(), matrix.ne[1], matrix.ne[0], data_type(matrix.type));
}

ggml_backend_buffer_type_i type_interface() {
  ggml_backend_buffer_type_i i{};
  i.get_name = [](ggml_backend_buffer_type_t) { return "oneDNN packed"; };
  i.alloc_buffer = allocate;
  i.get_alignment = [](ggml_backend_buffer_type_t) { return std::size_t{64}; };
  i.get_alloc_size = [](ggml_backend_buffer_type_t, const ggml_tensor* tensor) {
    return std::max(layout_of(*tensor).get_size(), ggml_nbytes(tensor));
  };
  return i;
}

ggml_backend_buffer_type_t the_type() {
  static ggml_backend_buffer_type type{type_interface(), ggml_backend_dev_by_name("oneDNN"), nullptr};
  return &type;
}

}  // namespace

bool is_packed(const ggml_tensor& tensor) {
  return tensor.buffer != nullptr && is_packed_type(ggml_backend_buffer_get_type(tensor.buffer));
}

bool is_packed_type(ggml_backend_buffer_type_t type) { return type == the_type(); }

ggml_type operand_type(const WeightStore& store) noexcept {
  return store.type() == DataType::bf16 ? GGML_TYPE_BF16 : GGML_TYPE_F32;
}

ggml_backend_buffer_type_t packed_buffer_type(const WeightStore& /*store*/) { return the_type(); }

void pack(const ggml_tensor& matrix, const void* values) {
  const dnnl::memory::desc rows({matrix.ne[0], matrix.ne[1]}, data_type(matrix.type), dnnl::memory::format_tag::ba);
  dnnl::memory source(rows, cpu_engine(), const_cast<void*>(values));
  dnnl::memory packed(layout_of(matrix), cpu_engine(), matrix.data);
  dnnl::stream stream(cpu_engine());
  dnnl::reorder(source, packed).execute(stream, source, packed);
  stream.wait();
}

}  // namespace verbatim::accelerator
