// Functions of Vulkan's extensions that the C++ headers of 1.3.239 call by name. The loader does not export them, so
// they are looked up for each call; both are called seldom.
#include <vulkan/vulkan_core.h>

#include <cstdint>

extern "C" VKAPI_ATTR VkResult VKAPI_CALL
vkGetMemoryHostPointerPropertiesEXT(VkDevice device, VkExternalMemoryHandleTypeFlagBits type, const void* pointer,
                                    VkMemoryHostPointerPropertiesEXT* properties) {
  const auto function = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
      vkGetDeviceProcAddr(device, "vkGetMemoryHostPointerPropertiesEXT"));
  return function == nullptr ? VK_ERROR_EXTENSION_NOT_PRESENT : function(device, type, pointer, properties);
}

extern "C" VKAPI_ATTR VkResult VKAPI_CALL
vkGetPipelineExecutableStatisticsKHR(VkDevice device, const VkPipelineExecutableInfoKHR* info, std::uint32_t* count,
                                     VkPipelineExecutableStatisticKHR* statistics) {
  const auto function = reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
      vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR"));
  return function == nullptr ? VK_ERROR_EXTENSION_NOT_PRESENT : function(device, info, count, statistics);
}
