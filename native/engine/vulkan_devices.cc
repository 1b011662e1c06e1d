#include "vulkan_devices.h"

#include <algorithm>

namespace verbatim {
namespace {

bool is_same_card(const VulkanDevice& one, const VulkanDevice& other) {
  constexpr std::array<std::uint8_t, 16> kUnknown{};
  return one.uuid == other.uuid && one.uuid != kUnknown;
}

}  // namespace

std::vector<VulkanDevice> usable_vulkan_devices(const std::vector<VulkanDevice>& all) {
  std::vector<VulkanDevice> usable;
  for (const VulkanDevice& device : all) {
    if (!device.has_16_bit_storage) continue;
    const auto same = std::ranges::find_if(usable, [&](const auto& other) { return is_same_card(device, other); });
    if (same == usable.end()) {
      usable.push_back(device);
    } else if (device.preferred_driver && !same->preferred_driver) {
      *same = device;
    }
  }
  std::ranges::stable_sort(usable, {}, &VulkanDevice::type);
  return usable;
}

std::vector<std::string> vulkan_ids(const std::vector<VulkanDevice>& usable, std::span<const std::string> cuda) {
  std::vector<std::string> ids;
  std::size_t number = 0;
  for (const VulkanDevice& device : usable) {
    std::string id;
    if (device.type == DeviceType::kSoftware) {
      id = "vulkan:software";
      if (std::ranges::find(ids, id) != ids.end()) id.clear();
    } else if (device.pci_address.empty() || std::ranges::find(cuda, device.pci_address) == cuda.end()) {
      id = "vulkan:" + std::to_string(number++);
    }
    ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace verbatim
