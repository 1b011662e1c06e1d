#pragma once

#include <cstddef>
#include <unordered_map>

#include "transformer/cpu/packed_matrix.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// Every linear layer of a model, packed for the CPU kernels. Immutable, shared by executors.
class CpuWeights {
 public:
  // `model` must outlive the weights. Throws EngineError kOutOfMemory.
  CpuWeights(const Transformer& model, ComputeType type);
  // The same in this memory, of memory_bytes(), which may hold the weights already.
  CpuWeights(const Transformer& model, ComputeType type, WeightMemory memory);
  static std::size_t memory_bytes(const Transformer& model, ComputeType type);

  const PackedMatrix& get(const Linear& linear) const { return matrices_.at(&linear); }
  const WeightMemory& memory() const noexcept { return memory_; }
  std::size_t bytes() const noexcept { return memory_.size(); }
  ComputeType type() const noexcept { return type_; }

 private:
  ComputeType type_;
  WeightMemory memory_;
  std::unordered_map<const Linear*, PackedMatrix> matrices_;
};

}  // namespace verbatim::transformer
