#include "device.h"

#include <doctest/doctest.h>

#include <string>

#include "error.h"
#include "support/device_under_test.h"

namespace verbatim {
namespace {

EngineError refusal(const std::string& id) {
  try {
    find_device(id);
  } catch (const EngineError& error) {
    return error;
  }
  return {ErrorCode::kInternalError, "nothing was thrown"};
}

}  // namespace

TEST_CASE("the CPU is the first device and can be found") {
  const auto devices = list_devices();
  REQUIRE_FALSE(devices.empty());
  CHECK(devices.front().id == "cpu");
  CHECK_FALSE(devices.front().name.empty());
  CHECK(devices.front().memory_bytes > 100'000'000);
  CHECK(find_device("cpu").name == devices.front().name);
}

TEST_CASE("every device in the list can be found, the one after the last cannot") {
  const auto devices = list_devices();
  for (const DeviceInfo& device : devices) CHECK(find_device(device.id).id == device.id);
  std::string there;
  for (const DeviceInfo& device : devices) there += (there.empty() ? "" : ", ") + device.id;
  const auto refused = [&](const std::string& prefix, bool is_built_in, const std::string& backend) {
    const std::string next = prefix + std::to_string(devices.size());
    const EngineError error = refusal(next);
    CHECK(error.code() == ErrorCode::kDeviceUnavailable);
    CHECK(error.what() == "device \"" + next + "\" is not available: this build has " + (is_built_in ? "" : "no ") +
                              backend + "; there is " + there);
  };
  refused("cuda:", built_with_cuda(), "CUDA");
  refused("vulkan:", built_with_vulkan(), "Vulkan");
}

TEST_CASE("a build without graphics cards' backends lists the CPU alone") {
  if (!built_with_cuda() && !built_with_vulkan()) CHECK(list_devices().size() == 1);
}

TEST_CASE("each device has a type that goes with its name, and a Vulkan device its driver and memory") {
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.id);
    CHECK((device.id == "cpu") == (device.type == DeviceType::kProcessor));
    CHECK((device.id == "vulkan:software") == (device.type == DeviceType::kSoftware));
    CHECK(device.id.starts_with("vulkan:") == !device.driver.empty());
    CHECK(device.memory_bytes > 0);
  }
}

TEST_CASE("a device is opened once: in float32 for all, or not at all") {
  const auto device = test::open_device_under_test(true);
  CHECK(test::open_device_under_test(false) == device);
  CHECK(test::open_device_under_test(true) == device);
}

TEST_CASE("anything but cpu, cuda:N, vulkan:N and vulkan:software is refused as an argument") {
  for (const std::string id :
       {"", "CPU", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0,1", "cuda:01", "cuda:1234", "cuda:software",
        "vulkan", "vulkan:", "vulkan:llvmpipe", "vulkan:0,1", "vulkan:00"}) {
    CAPTURE(id);
    CHECK(refusal(id).code() == ErrorCode::kInvalidArgument);
  }
}

}  // namespace verbatim
