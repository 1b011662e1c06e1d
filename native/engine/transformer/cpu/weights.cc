#include "transformer/cpu/weights.h"

#include <utility>

#include "transformer/linears.h"

namespace verbatim::transformer {

std::size_t CpuWeights::memory_bytes(const Transformer& model, ComputeType type) {
  std::size_t bytes = 0;
  for (const Linear* linear : linears(model)) bytes += PackedMatrix::bytes(linear->weight, type);
  return bytes;
}

CpuWeights::CpuWeights(const Transformer& model, ComputeType type)
    : CpuWeights(model, type, WeightMemory(memory_bytes(model, type))) {}

CpuWeights::CpuWeights(const Transformer& model, ComputeType type, WeightMemory memory)
    : type_(type), memory_(std::move(memory)) {
  for (const Linear* linear : linears(model)) {
    matrices_.try_emplace(linear, linear->weight, type, memory_);
  }
}

}  // namespace verbatim::transformer
