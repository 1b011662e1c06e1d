#include "accelerator/onednn/precision.h"

#include <ggml-cpu.h>
#include <ggml.h>

#include <cstring>

namespace verbatim::accelerator {

DataType fastest_type() {
  static const DataType type = [] {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto bf16 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
    return (isa & bf16) == bf16 ? DataType::bf16 : DataType::f32;
  }();
  return type;
}

std::size_t operand_bytes(DataType type) noexcept { return type == DataType::bf16 ? 2 : 4; }

void to_float(int type, const void* from, float* to, std::int64_t count) {
  if (type == GGML_TYPE_F32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  } else if (type == GGML_TYPE_F16) {
    ggml_cpu_fp16_to_fp32(static_cast<const ggml_fp16_t*>(from), to, count);
  } else {
    ggml_get_type_traits(static_cast<ggml_type>(type))->to_float(from, to, count);
  }
}

void to_operands(int type, const void* from, DataType operand, void* to, std::int64_t count, float* scratch) {
  if (operand == DataType::f32) {
    to_float(type, from, static_cast<float*>(to), count);
  } else if (type == GGML_TYPE_F32) {
    ggml_cpu_fp32_to_bf16(static_cast<const float*>(from), static_cast<ggml_bf16_t*>(to), count);
  } else if (type == GGML_TYPE_BF16) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(ggml_bf16_t));
  } else {
    to_float(type, from, scratch, count);
    ggml_cpu_fp32_to_bf16(scratch, static_cast<ggml_bf16_t*>(to), count);
  }
}

}  // namespace verbatim::accelerator
