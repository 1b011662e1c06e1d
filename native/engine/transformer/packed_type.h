#pragma once

#include <cstddef>

namespace verbatim::translation {

// Types in which weights are held for computing.
enum class PackedType { kFloat32, kFloat16, kBfloat16, kInt8 };

// Outputs (weight rows) that lie side by side in memory. 32 floats are two AVX-512 registers.
inline constexpr std::size_t kPanelOutputs = 32;

}  // namespace verbatim::translation
