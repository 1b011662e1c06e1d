#include "transformer/gpu/device_errors.h"

#include <ggml.h>

#include <string>

#include "error.h"

namespace verbatim::transformer {
namespace {

// Vulkan's results (VkResult), which are the same in every version.
constexpr int kOutOfHostMemory = -1;
constexpr int kOutOfDeviceMemory = -2;
constexpr int kDeviceLost = -4;

// Such as "f16 [512, 1500]".
std::string shape_of(const ggml_tensor& tensor) {
  std::string text = std::string(ggml_type_name(tensor.type)) + " [";
  for (int i = 0; i < ggml_n_dims(&tensor); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.ne[i]);
  return text + "]";
}

}  // namespace

void throw_out_of_device_memory() {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory on the device for what is decoded");
}

void throw_unsupported(const ggml_tensor& node, ggml_backend_dev_t backend_device) {
  std::string message =
      std::string(ggml_backend_dev_description(backend_device)) + " cannot compute " + ggml_op_desc(&node) + " of ";
  for (int i = 0; i < GGML_MAX_SRC && node.src[i] != nullptr; ++i)
    message += (i == 0 ? "" : " and ") + shape_of(*node.src[i]);
  throw EngineError(ErrorCode::kDeviceUnavailable, message + " to " + shape_of(node));
}

void throw_device_error(const std::system_error& error) {
  const int code = error.code().value();
  if (code == kOutOfHostMemory || code == kOutOfDeviceMemory) throw_out_of_device_memory();
  const std::string what = error.what();
  if (code == kDeviceLost) throw EngineError(ErrorCode::kDeviceLost, "the device was lost: " + what);
  throw EngineError(ErrorCode::kInternalError, "the device failed: " + what);
}

}  // namespace verbatim::transformer
