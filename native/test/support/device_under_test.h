#pragma once

#include <cstdlib>
#include <string>

#include "backend_devices.h"

namespace verbatim::test {

// The device that the tests of graphs run on: VERBATIM_TEST_DEVICE, such as "vulkan:software". Default: ggml's CPU
// device.
inline std::string device_under_test() {
  const char* const wanted = std::getenv("VERBATIM_TEST_DEVICE");
  return wanted == nullptr ? "cpu" : wanted;
}

inline ggml_backend_dev_t open_device_under_test(bool in_float32 = true) {
  return open_backend_device(device_under_test(), in_float32);
}

}  // namespace verbatim::test
