#pragma once

#include <string_view>

#include "transformer/packed_type.h"
#include "transformer/transformer.h"

namespace verbatim::translation {

// "float32", "float16", "bfloat16", "int8", or "auto": the type that the file holds (int16, which no kernel
// computes in, becomes float32). Throws EngineError kInvalidArgument for any other spelling.
PackedType choose_compute_type(std::string_view name, const Transformer& model);

std::string_view packed_type_name(PackedType type) noexcept;

}  // namespace verbatim::translation
