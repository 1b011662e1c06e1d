#include "transformer/compute_type.h"

#include <string>

#include "error.h"

namespace verbatim::transformer {
namespace {

ComputeType type_of_file(const Transformer& model) {
  switch (model.decoder.layers.front().feed_forward.up.weight.type) {
    case ElementType::kInt8:
      return ComputeType::kInt8;
    case ElementType::kFloat16:
      return ComputeType::kFloat16;
    case ElementType::kBfloat16:
      return ComputeType::kBfloat16;
    default:
      return ComputeType::kFloat32;
  }
}

}  // namespace

ComputeType choose_compute_type(std::string_view name, const Transformer& model) {
  if (name == "auto") return type_of_file(model);
  for (const ComputeType type :
       {ComputeType::kFloat32, ComputeType::kFloat16, ComputeType::kBfloat16, ComputeType::kInt8}) {
    if (name == compute_type_name(type)) return type;
  }
  throw EngineError(
      ErrorCode::kInvalidArgument,
      "compute type \"" + std::string(name) + "\" is unknown; float32, float16, bfloat16, int8 and auto are allowed");
}

ComputeType choose_cpu_compute_type(std::string_view name, const Transformer& model) {
  const ComputeType type = choose_compute_type(name, model);
  if (type != ComputeType::kFloat16) return type;
  if (name == "auto") return ComputeType::kFloat32;
  throw EngineError(ErrorCode::kInvalidArgument,
                    "compute type \"float16\" is for GPUs; float32, bfloat16, int8 and auto are allowed on the CPU");
}

std::string_view compute_type_name(ComputeType type) noexcept {
  switch (type) {
    case ComputeType::kFloat32:
      return "float32";
    case ComputeType::kFloat16:
      return "float16";
    case ComputeType::kBfloat16:
      return "bfloat16";
    case ComputeType::kInt8:
      return "int8";
  }
  return "float32";
}

}  // namespace verbatim::transformer
