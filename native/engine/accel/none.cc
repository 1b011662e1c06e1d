// The build without oneDNN.
#ifndef VERBATIM_ONEDNN
#include "accel/accelerator.h"

namespace verbatim::accel {

std::string accelerator_name() { return {}; }
std::size_t operand_size() { return 0; }
void register_accelerator() {}
std::size_t workspace_bytes(std::size_t /*state*/, int /*threads*/) { return 0; }
std::shared_ptr<WeightStore> make_weight_store() { return nullptr; }
std::size_t packed_bytes(const WeightStore* /*store*/) noexcept { return 0; }
StateScope::StateScope(std::shared_ptr<WeightStore> /*store*/) {}
StateScope::~StateScope() = default;

}  // namespace verbatim::accel
#endif
