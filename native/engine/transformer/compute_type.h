#pragma once

#include <string_view>

#include "transformer/transformer.h"

namespace verbatim::transformer {

// Types in which weights are held for computing. float16 is for GPUs: no kernel of ours computes in it.
enum class ComputeType { kFloat32, kFloat16, kBfloat16, kInt8 };

// "float32", "float16", "bfloat16", "int8", or "auto": the type that the file holds (int16, which nothing
// computes in, becomes float32). Throws EngineError kInvalidArgument for any other spelling.
ComputeType choose_compute_type(std::string_view name, const Transformer& model);

// The same for the CPU's kernels: "auto" makes float32 of a file in float16, which loses nothing; throws
// EngineError kInvalidArgument for "float16" as well.
ComputeType choose_cpu_compute_type(std::string_view name, const Transformer& model);

std::string_view compute_type_name(ComputeType type) noexcept;

}  // namespace verbatim::transformer
