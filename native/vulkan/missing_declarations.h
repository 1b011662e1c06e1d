#pragma once

// Compiled into ggml's Vulkan backend before its own source (VerbatimVulkan.cmake). Vulkan's headers before 1.3.272,
// such as Debian 12's, lack the names of VK_EXT_layer_settings, which the backend uses for its validation layer only.

#include <vulkan/vulkan_core.h>

#ifndef VK_EXT_layer_settings
#include <cstdint>
#include <vector>

namespace vk {

enum class LayerSettingTypeEXT { eBool32 = 0 };

struct LayerSettingEXT {
  const char* pLayerName = nullptr;
  const char* pSettingName = nullptr;
  LayerSettingTypeEXT type = LayerSettingTypeEXT::eBool32;
  std::uint32_t valueCount = 0;
  const void* pValues = nullptr;
};

struct LayerSettingsCreateInfoEXT {
  explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT>& settings)
      : settingCount(static_cast<std::uint32_t>(settings.size())), pSettings(settings.data()) {}

  VkStructureType sType = static_cast<VkStructureType>(1000496000);
  const void* pNext = nullptr;
  std::uint32_t settingCount;
  const LayerSettingEXT* pSettings;
};

}  // namespace vk
#endif
