#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>

struct ggml_tensor;

namespace verbatim::accelerator {

using DataType = dnnl::memory::data_type;

// bfloat16 if the CPU multiplies it natively (AVX512-BF16, AMX), else float32.
DataType fastest_type();

// 2 or 4 bytes.
std::size_t operand_bytes(DataType type) noexcept;

// Converts `count` contiguous values of ggml type `type` to float32. `count` is a multiple of the type's block.
void to_float(int type, const void* from, float* to, std::int64_t count);

// Converts to operands: bfloat16, rounded to nearest even, or float32. `scratch` holds `count` floats, for types
// without a direct conversion.
void to_operands(int type, const void* from, DataType operand, void* to, std::int64_t count, float* scratch);

}  // namespace verbatim::accelerator
