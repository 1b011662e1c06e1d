// The build without oneDNN.
#ifndef VERBATIM_ONEDNN
#include "accelerator/accelerator.h"
#include "accelerator/graph.h"

namespace verbatim::accelerator {

std::string name(const WeightStore* /*store*/) { return {}; }
std::size_t operand_size(const WeightStore* /*store*/) noexcept { return 0; }
void register_backend_device() {}
std::size_t workspace_bytes(const WeightStore* /*store*/, std::size_t /*state*/, int /*threads*/) noexcept {
  return 0;
}
std::shared_ptr<WeightStore> make_weight_store(AcceleratorMode /*accelerator*/) { return nullptr; }
std::size_t packed_bytes(const WeightStore* /*store*/) noexcept { return 0; }
LoadScope::LoadScope(const WeightStore* /*store*/) {}
LoadScope::~LoadScope() = default;
std::uint64_t computed_products(const WeightStore* /*store*/) noexcept { return 0; }
StateScope::StateScope(std::shared_ptr<WeightStore> /*store*/) {}
StateScope::~StateScope() = default;
bool StateScope::took_weights() const noexcept { return false; }

// Without a store none of these is called.
ggml_type operand_type(const WeightStore& /*store*/) noexcept { return GGML_TYPE_F32; }
ggml_backend_buffer_type_t packed_buffer_type(const WeightStore& /*store*/) { return nullptr; }
void pack(const ggml_tensor& /*matrix*/, const void* /*values*/) {}
ggml_backend_t make_backend(std::shared_ptr<WeightStore> /*store*/) { return nullptr; }

}  // namespace verbatim::accelerator
#endif
