#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim {

enum class DeviceType {
  kProcessor,
  // A graphics card with memory of its own.
  kDiscrete,
  // Graphics that share the processor's memory.
  kIntegrated,
  // A program that computes a graphics card's work on the processor, such as Mesa's lavapipe.
  kSoftware,
};

// "processor", "discrete", "integrated" or "software".
std::string_view device_type_name(DeviceType type) noexcept;

struct DeviceInfo {
  // "cpu", "cuda:0", "cuda:1", ..., "vulkan:0", ..., "vulkan:software".
  std::string id;
  DeviceType type = DeviceType::kProcessor;
  // Human-readable.
  std::string name;
  // Name and version of a Vulkan driver; empty for other devices.
  std::string driver;
  // Total memory in bytes.
  std::uint64_t memory_bytes = 0;
};

// True if the backend was built in.
bool built_with_cuda() noexcept;
bool built_with_vulkan() noexcept;

// The available devices: "cpu" first, then each CUDA device, then each Vulkan device, discrete ones before integrated
// ones and the software device last. A card that CUDA and Vulkan see is listed for CUDA alone.
std::vector<DeviceInfo> list_devices();

// Finds a device by its id. Never falls back: throws EngineError kDeviceUnavailable with what is built in and
// available, kInvalidArgument for any other spelling.
DeviceInfo find_device(std::string_view id);

}  // namespace verbatim
