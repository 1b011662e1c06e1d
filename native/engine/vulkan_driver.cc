// The devices of this machine's Vulkan drivers.
#include "vulkan_devices.h"

#ifdef VERBATIM_VULKAN
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <type_traits>

namespace verbatim {
namespace {

struct InstanceDeleter {
  void operator()(VkInstance instance) const noexcept { vkDestroyInstance(instance, nullptr); }
};
using Instance = std::unique_ptr<std::remove_pointer_t<VkInstance>, InstanceDeleter>;

// Null where there is no driver, or none of the version that ggml needs.
Instance make_instance() {
  std::uint32_t version = 0;
  if (vkEnumerateInstanceVersion(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2) return nullptr;
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "verbatim";
  application.apiVersion = version;
  VkInstanceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  create.pApplicationInfo = &application;
  VkInstance instance = nullptr;
  if (vkCreateInstance(&create, nullptr, &instance) != VK_SUCCESS) return nullptr;
  return Instance(instance);
}

std::vector<VkPhysicalDevice> physical_devices(VkInstance instance) {
  std::uint32_t count = 0;
  if (vkEnumeratePhysicalDevices(instance, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<VkPhysicalDevice> devices(count);
  if (vkEnumeratePhysicalDevices(instance, &count, devices.data()) != VK_SUCCESS) return {};
  devices.resize(count);
  return devices;
}

DeviceType type_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DeviceType::kSoftware;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DeviceType::kIntegrated;
    // A virtual machine's share of a card has memory of its own, too.
    default:
      return DeviceType::kDiscrete;
  }
}

bool has_extension(VkPhysicalDevice device, std::string_view name) {
  std::uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> all(count);
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data()) != VK_SUCCESS) return false;
  return std::ranges::any_of(all, [&](const auto& extension) { return extension.extensionName == name; });
}

std::string pci_address_of(const VkPhysicalDevicePCIBusInfoPropertiesEXT& place) {
  char text[32];
  std::snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", place.pciDomain, place.pciBus, place.pciDevice,
                place.pciFunction & 7U);
  return text;
}

// Mesa's drivers for AMD and Intel, NVIDIA's own for NVIDIA, as ggml prefers them.
bool is_preferred(VkDriverId driver) {
  return driver == VK_DRIVER_ID_MESA_RADV || driver == VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA ||
         driver == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
}

std::uint64_t own_memory(VkPhysicalDevice device) {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) bytes += memory.memoryHeaps[i].size;
  }
  return bytes;
}

bool has_16_bit_storage(VkPhysicalDevice device) {
  VkPhysicalDeviceVulkan11Features eleven{};
  eleven.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &eleven;
  vkGetPhysicalDeviceFeatures2(device, &features);
  return eleven.storageBuffer16BitAccess == VK_TRUE;
}

VulkanDevice describe(VkPhysicalDevice device, std::size_t index) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT place{};
  place.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  const bool has_place = has_extension(device, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = has_place ? &place : nullptr;
  VkPhysicalDeviceIDProperties identity{};
  identity.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  identity.pNext = &driver;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &identity;
  vkGetPhysicalDeviceProperties2(device, &properties);

  VulkanDevice out;
  out.index = index;
  out.type = type_of(properties.properties.deviceType);
  out.name = properties.properties.deviceName;
  out.driver = driver.driverName;
  if (driver.driverInfo[0] != '\0') out.driver += std::string(" ") + driver.driverInfo;
  out.preferred_driver = is_preferred(driver.driverID);
  out.memory_bytes = own_memory(device);
  std::ranges::copy(identity.deviceUUID, out.uuid.begin());
  if (has_place) out.pci_address = pci_address_of(place);
  out.has_16_bit_storage = has_16_bit_storage(device);
  return out;
}

}  // namespace

std::vector<VulkanDevice> all_vulkan_devices() {
  std::vector<VulkanDevice> devices;
  const Instance instance = make_instance();
  if (!instance) return devices;
  for (VkPhysicalDevice device : physical_devices(instance.get())) devices.push_back(describe(device, devices.size()));
  return devices;
}

}  // namespace verbatim

#else

namespace verbatim {
std::vector<VulkanDevice> all_vulkan_devices() { return {}; }
}  // namespace verbatim

#endif
