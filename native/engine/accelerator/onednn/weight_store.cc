#include "accelerator/onednn/weight_store.h"

#include <ggml.h>

#include "accelerator/onednn/matmul.h"

namespace verbatim::accelerator {

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

const void* WeightStore::packed(const ggml_tensor& weight) {
  const std::lock_guard lock(mutex_);
  const auto found = weights_.find(weight.data);
  if (found != weights_.end()) return found->second.reserve(0);
  Buffer target;
  pack(weight, target);
  bytes_.fetch_add(target.size(), std::memory_order_relaxed);
  return weights_.emplace(weight.data, std::move(target)).first->second.reserve(0);
}

void WeightStore::pack(const ggml_tensor& weight, Buffer& target) {
  const std::int64_t depth = weight.ne[0];
  const std::int64_t columns = weight.ne[1];
  Buffer plain;
  float* const floats = plain.reserve_as<float>(static_cast<std::size_t>(depth * columns));
  to_float(weight.type, weight.data, floats, depth * columns);

  const dnnl::memory::desc layout = packed_layout(cpu_engine(), columns, depth, type_);
  const dnnl::memory::desc rows({depth, columns}, DataType::f32, dnnl::memory::format_tag::ba);
  dnnl::memory source(rows, cpu_engine(), floats);
  dnnl::memory packed(layout, cpu_engine(), target.reserve(layout.get_size()));
  dnnl::stream stream(cpu_engine());
  dnnl::reorder(source, packed).execute(stream, source, packed);
  stream.wait();
}

}  // namespace verbatim::accelerator
