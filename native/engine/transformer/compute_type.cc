#include "transformer/compute_type.h"

#include <string>

#include "error.h"

namespace verbatim::translation {
namespace {

PackedType type_of_file(const Transformer& model) {
  switch (model.decoder.layers.front().feed_forward.up.weight.type) {
    case ElementType::kInt8:
      return PackedType::kInt8;
    case ElementType::kFloat16:
      return PackedType::kFloat16;
    case ElementType::kBfloat16:
      return PackedType::kBfloat16;
    default:
      return PackedType::kFloat32;
  }
}

}  // namespace

PackedType choose_compute_type(std::string_view name, const Transformer& model) {
  if (name == "auto") return type_of_file(model);
  for (const PackedType type :
       {PackedType::kFloat32, PackedType::kFloat16, PackedType::kBfloat16, PackedType::kInt8}) {
    if (name == packed_type_name(type)) return type;
  }
  throw EngineError(ErrorCode::kInvalidArgument,
                    "compute type \"" + std::string(name) +
                        "\" is unknown; float32, float16, bfloat16, int8 and auto are allowed");
}

std::string_view packed_type_name(PackedType type) noexcept {
  switch (type) {
    case PackedType::kFloat32:
      return "float32";
    case PackedType::kFloat16:
      return "float16";
    case PackedType::kBfloat16:
      return "bfloat16";
    case PackedType::kInt8:
      return "int8";
  }
  return "float32";
}

}  // namespace verbatim::translation
