#include "vulkan_devices.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

// Machines with cards that no test machine has.
namespace verbatim {
namespace {

VulkanDevice device(std::size_t index, DeviceType type, std::uint8_t uuid, std::string driver = "driver") {
  VulkanDevice made;
  made.index = index;
  made.type = type;
  made.driver = std::move(driver);
  made.uuid[0] = uuid;
  return made;
}

std::vector<std::size_t> indices_of(const std::vector<VulkanDevice>& devices) {
  std::vector<std::size_t> indices;
  for (const VulkanDevice& one : devices) indices.push_back(one.index);
  return indices;
}

}  // namespace

TEST_CASE("discrete cards come before integrated graphics, and software last") {
  const auto usable = usable_vulkan_devices({device(0, DeviceType::kSoftware, 1), device(1, DeviceType::kIntegrated, 2),
                                             device(2, DeviceType::kDiscrete, 3), device(3, DeviceType::kDiscrete, 4)});
  CHECK(indices_of(usable) == std::vector<std::size_t>{2, 3, 1, 0});
  CHECK(vulkan_ids(usable, {}) == std::vector<std::string>{"vulkan:0", "vulkan:1", "vulkan:2", "vulkan:software"});
}

TEST_CASE("a card with two drivers is one device, with the driver that ggml prefers") {
  auto preferred = device(1, DeviceType::kDiscrete, 7, "radv");
  preferred.preferred_driver = true;
  const auto other = device(0, DeviceType::kDiscrete, 7, "amdvlk");
  const auto same = device(2, DeviceType::kDiscrete, 7, "another");
  CHECK(indices_of(usable_vulkan_devices({other, preferred, same})) == std::vector<std::size_t>{1});
  CHECK(indices_of(usable_vulkan_devices({other, same})) == std::vector<std::size_t>{0});
  // Drivers that give no identity tell nothing of the card.
  CHECK(usable_vulkan_devices({device(0, DeviceType::kDiscrete, 0), device(1, DeviceType::kDiscrete, 0)}).size() == 2);
}

TEST_CASE("a card that CUDA has is not listed again, and takes no number") {
  auto nvidia = device(0, DeviceType::kDiscrete, 1), amd = device(1, DeviceType::kDiscrete, 2);
  nvidia.pci_address = "0000:01:00.0";
  amd.pci_address = "0000:02:00.0";
  const std::vector<VulkanDevice> usable{nvidia, amd, device(2, DeviceType::kIntegrated, 3)};
  const std::vector<std::string> cuda{"0000:01:00.0"};
  CHECK(vulkan_ids(usable, cuda) == std::vector<std::string>{"", "vulkan:0", "vulkan:1"});
}

TEST_CASE("a device without 16-bit storage is left out, and one software device has the name") {
  auto old = device(0, DeviceType::kDiscrete, 1);
  old.has_16_bit_storage = false;
  const auto usable =
      usable_vulkan_devices({old, device(1, DeviceType::kSoftware, 2), device(2, DeviceType::kSoftware, 3)});
  CHECK(indices_of(usable) == std::vector<std::size_t>{1, 2});
  CHECK(vulkan_ids(usable, {}) == std::vector<std::string>{"vulkan:software", ""});
}

}  // namespace verbatim
