#pragma once

#include <ggml-backend.h>

#include <system_error>
#include <utility>

namespace verbatim::transformer {

[[noreturn]] void throw_out_of_device_memory();

// Throws EngineError kDeviceUnavailable, which names the operation, its operands and the device.
[[noreturn]] void throw_unsupported(const ggml_tensor& node, ggml_backend_dev_t backend_device);

// Throws the EngineError for an error that ggml's Vulkan backend threw: kOutOfMemory, kDeviceLost or kInternalError.
[[noreturn]] void throw_device_error(const std::system_error& error);

// Runs a call of ggml, so that its Vulkan backend's exceptions become EngineErrors.
template <typename Call>
decltype(auto) on_device(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::system_error& error) {
    throw_device_error(error);
  }
}

}  // namespace verbatim::transformer
