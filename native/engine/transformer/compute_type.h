#pragma once

#include <string_view>

#include "transformer/transformer.h"

namespace verbatim::transformer {

// Types in which weights are held for computing. float16 is for GPUs only: no CPU kernel computes in it.
enum class ComputeType { kFloat32, kFloat16, kBfloat16, kInt8 };

// The type for "float32", "float16", "bfloat16", "int8" or "auto". "auto" is the file's type; int16, in which nothing
// computes, becomes float32. Throws EngineError kInvalidArgument for any other spelling.
ComputeType choose_compute_type(std::string_view name, const Transformer& model);

// The same for the CPU's kernels: "auto" turns float16 into float32 without loss. Throws EngineError kInvalidArgument
// for "float16" too.
ComputeType choose_cpu_compute_type(std::string_view name, const Transformer& model);

std::string_view compute_type_name(ComputeType type) noexcept;

}  // namespace verbatim::transformer
