// The build without oneDNN.
#ifndef VERBATIM_ONEDNN
#include "accelerator/accelerator.h"
#include "accelerator/matrices.h"

namespace verbatim::accelerator {

std::string name(const WeightStore* /*store*/) { return {}; }
std::size_t operand_size(const WeightStore* /*store*/) noexcept { return 0; }
void register_backend_device() {}
std::size_t workspace_bytes(const WeightStore* /*store*/, std::size_t /*state*/, int /*threads*/) noexcept { return 0; }
std::shared_ptr<WeightStore> make_weight_store(AcceleratorMode /*accelerator*/) { return nullptr; }
std::size_t packed_bytes(const WeightStore* /*store*/) noexcept { return 0; }
LoadScope::LoadScope(const WeightStore* /*store*/) {}
LoadScope::~LoadScope() = default;
std::uint64_t computed_products(const WeightStore* /*store*/) noexcept { return 0; }
StateScope::StateScope(std::shared_ptr<WeightStore> /*store*/) {}
StateScope::~StateScope() = default;
bool StateScope::took_weights() const noexcept { return false; }

// Never called: there is no store.
void to_operands(const WeightStore& /*store*/, const float* /*from*/, std::size_t /*count*/, void* /*to*/) {}
PackedWeight::PackedWeight(const WeightStore& /*store*/, std::int64_t inputs, std::int64_t outputs,
                           const float* /*rows*/)
    : inputs_(inputs), outputs_(outputs) {}
struct Multiplier::Impl {};
Multiplier::Multiplier(std::shared_ptr<WeightStore> /*store*/, int /*threads*/) {}
Multiplier::~Multiplier() = default;
Multiplier::Multiplier(Multiplier&&) noexcept = default;
void Multiplier::multiply(const WeightProduct& /*product*/) {}
void Multiplier::multiply_by_columns(std::int64_t /*rows*/, std::int64_t /*columns*/, std::int64_t /*depth*/,
                                     const void* /*left*/, const void* /*right*/, float* /*result*/) {}
void Multiplier::multiply_by_rows(std::int64_t /*rows*/, std::int64_t /*columns*/, std::int64_t /*depth*/,
                                  const void* /*left*/, const void* /*right*/, float* /*result*/) {}
std::size_t Multiplier::memory_bytes() const noexcept { return 0; }
void for_each(std::int64_t /*count*/, int /*threads*/,
              const std::function<void(std::int64_t index, std::size_t thread)>& /*task*/) {}

}  // namespace verbatim::accelerator
#endif
