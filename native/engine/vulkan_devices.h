#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device.h"

namespace verbatim {

// A device as its Vulkan driver describes it.
struct VulkanDevice {
  // Its place in Vulkan's own list.
  std::size_t index = 0;
  DeviceType type = DeviceType::kSoftware;
  std::string name;
  std::string driver;
  // Whether its driver is the one to take where a card has several.
  bool preferred_driver = false;
  // Of all memory of its own.
  std::uint64_t memory_bytes = 0;
  // The same for every driver of one card.
  std::array<std::uint8_t, 16> uuid{};
  // Such as "0000:01:00.0"; empty if the driver does not say.
  std::string pci_address;
  // ggml's shaders need it.
  bool has_16_bit_storage = true;
};

// Every device of every Vulkan driver. Empty without Vulkan in the build, without a loader and without a driver.
std::vector<VulkanDevice> all_vulkan_devices();

// Those that ggml can use, a card once: discrete ones, then integrated ones, then software, each in Vulkan's order.
std::vector<VulkanDevice> usable_vulkan_devices(const std::vector<VulkanDevice>& all);

// The ids that list_devices() gives them, in their order: "vulkan:0", "vulkan:1", ..., and "vulkan:software" for the
// first software device. Empty for a card that CUDA has as well (its PCI address is among `cuda`), and for further
// software devices.
std::vector<std::string> vulkan_ids(const std::vector<VulkanDevice>& usable, std::span<const std::string> cuda);

}  // namespace verbatim
