#include "device.h"

#include "backend_devices.h"

namespace verbatim {

std::string_view device_type_name(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::kProcessor:
      return "processor";
    case DeviceType::kDiscrete:
      return "discrete";
    case DeviceType::kIntegrated:
      return "integrated";
    case DeviceType::kSoftware:
      return "software";
  }
  return "processor";
}

bool built_with_cuda() noexcept {
#ifdef VERBATIM_CUDA
  return true;
#else
  return false;
#endif
}

bool built_with_vulkan() noexcept {
#ifdef VERBATIM_VULKAN
  return true;
#else
  return false;
#endif
}

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  for (const BackendDevice& device : backend_devices()) devices.push_back(device.info);
  return devices;
}

DeviceInfo find_device(std::string_view id) { return backend_device(id).info; }

}  // namespace verbatim
