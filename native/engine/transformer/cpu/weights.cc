#include "transformer/cpu/weights.h"

#include "transformer/linears.h"

namespace verbatim::transformer {
namespace {

std::size_t total_bytes(const Transformer& model, ComputeType type) {
  std::size_t bytes = 0;
  for (const Linear* linear : linears(model)) bytes += PackedMatrix::bytes(linear->weight, type);
  return bytes;
}

}  // namespace

CpuWeights::CpuWeights(const Transformer& model, ComputeType type) : type_(type), memory_(total_bytes(model, type)) {
  for (const Linear* linear : linears(model)) {
    matrices_.try_emplace(linear, linear->weight, type, memory_);
  }
}

}  // namespace verbatim::transformer
