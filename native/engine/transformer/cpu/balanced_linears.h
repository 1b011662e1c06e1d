#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transformer/cpu/linear_weight.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

struct PackedLinear {
  LinearWeight weight;
  std::span<const float> bias;  // [outputs], in WeightMemory
};

// Bytes of WeightMemory that a packed layer with this weight takes.
std::size_t packed_linear_bytes(const MatrixView& weight, const ProductFormat& format) noexcept;

// Packs a layer as it is; without a bias, zeros.
PackedLinear pack_linear(const Linear& linear, const ProductFormat& format, WeightMemory& memory);

// Linear layers of one normalized input. The norm's gain and bias are folded into weights and biases, so that the input
// is (x - mean) / deviation * gain. For int8 the gain divides what a column weighs evenly between the input and the
// weights: its square is the norm's gain times the column's largest weight (SmoothQuant, arXiv:2211.10438, with a
// strength of one half and the norm's gain in place of measured activations). For the other types it is the norm's own.
struct BalancedLinears {
  std::span<const float> gain;  // [inputs], in WeightMemory
  std::vector<PackedLinear> linears;
};

// norm: with a beta. linears: at least one, of the norm's size. sizes: how much larger than the rest each channel of
// the norm's input is (stream_sizes.h); none: all alike. Takes packed_linear_bytes() for each and the gain's
// WeightMemory::float_bytes().
BalancedLinears pack_behind_norm(const LayerNorm& norm, std::span<const Linear* const> linears,
                                 const ProductFormat& format, WeightMemory& memory, std::span<const float> sizes = {});

}  // namespace verbatim::transformer
