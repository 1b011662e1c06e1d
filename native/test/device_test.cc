#include "device.h"

#include <doctest/doctest.h>

#include <string>

#include "error.h"

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
  const std::string next = "cuda:" + std::to_string(devices.size() - 1);
  const EngineError error = refusal(next);
  CHECK(error.code() == ErrorCode::kDeviceUnavailable);
  const std::string message = error.what();
  CHECK(message.find(next) != std::string::npos);
  CHECK(message.find(built_with_cuda() ? "CUDA is built in" : "built without CUDA") != std::string::npos);
}

TEST_CASE("a build without CUDA lists no CUDA device") {
  if (!built_with_cuda()) CHECK(list_devices().size() == 1);
}

TEST_CASE("anything but cpu and cuda:N is refused as an argument") {
  for (const std::string id :
       {"", "CPU", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:0,1", "cuda:01", "cuda:1234"}) {
    CAPTURE(id);
    CHECK(refusal(id).code() == ErrorCode::kInvalidArgument);
  }
}

}  // namespace verbatim
