// The build without oneDNN.
#ifndef VERBATIM_ONEDNN
#include "accelerator/accelerator.h"

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

}  // namespace verbatim::accelerator
#endif
