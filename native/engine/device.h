#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim {

struct DeviceInfo {
  // "cpu", "cuda:0", "cuda:1", ...
  std::string id;
  // Human readable.
  std::string name;
  // Total memory in bytes.
  std::uint64_t memory_bytes = 0;
};

// True when the CUDA backend was compiled in.
bool built_with_cuda() noexcept;

// The devices that are there: "cpu" first, then each CUDA device.
std::vector<DeviceInfo> list_devices();

// "cpu" or "cuda:N" -> the device. Never falls back: throws EngineError kDeviceUnavailable with what was
// built in and what is there, kInvalidArgument for any other spelling.
DeviceInfo find_device(std::string_view id);

}  // namespace verbatim
