#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim {

struct DeviceInfo {
  // "cpu", "cuda:0", "cuda:1", ...
  std::string id;
  // Human-readable.
  std::string name;
  // Total memory in bytes.
  std::uint64_t memory_bytes = 0;
};

// True if the CUDA backend was built in.
bool built_with_cuda() noexcept;

// The available devices: "cpu" first, then each CUDA device.
std::vector<DeviceInfo> list_devices();

// Finds "cpu" or "cuda:N". Never falls back: throws EngineError kDeviceUnavailable with what is built in and available,
// kInvalidArgument for any other spelling.
DeviceInfo find_device(std::string_view id);

}  // namespace verbatim
