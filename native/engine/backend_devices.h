#pragma once

#include <ggml-backend.h>

#include <optional>
#include <string_view>
#include <vector>

#include "device.h"

namespace verbatim {

// A device of list_devices() and what computes on it.
struct BackendDevice {
  DeviceInfo info;
  ggml_backend_dev_t backend = nullptr;
  // whisper.cpp's number for it; empty for the CPU.
  std::optional<int> gpu_number;
};

// Found once, on the first call, before anything else reads ggml's list: ggml then has the Vulkan devices in the order
// of usable_vulkan_devices(), software included, which it would leave out by itself.
const std::vector<BackendDevice>& backend_devices();

// Throws EngineError as find_device() does.
const BackendDevice& backend_device(std::string_view id);

// A device to compute on. in_float32: all its products in float32. A Vulkan device multiplies large matrices in float16
// otherwise, whatever a graph asks for; the first to open it decides this for the process. Throws EngineError as
// find_device() does, and kInvalidArgument for float32 on a device that was opened without.
ggml_backend_dev_t open_backend_device(std::string_view id, bool in_float32);

}  // namespace verbatim
