#pragma once

#include <ggml-backend-impl.h>

namespace verbatim::accelerator {

// The properties and functions of a backend device in the CPU's memory. Any thread that runs ggml calls the functions,
// several at a time; they must not throw.
struct BackendDeviceTraits {
  // Must have static storage duration: ggml keeps the pointer.
  const char* name;
  const char* description;
  // Makes a backend of this device for one state; null if none is wanted. The caller frees it through its interface.
  ggml_backend_t (*make_backend)(ggml_backend_dev_t backend_device);
  // Whether the device supports this operation.
  bool (*supports)(const ggml_tensor& node);
  // A backend's function outside ggml's interface, such as "ggml_backend_set_n_threads", or null for an unknown name.
  // Null: there are none.
  void* (*get_proc_address)(const char* name) = nullptr;
};

// A ggml backend device of type ACCEL, which whisper.cpp tries before its CPU backend, with the registry that ggml
// requires. It works in the CPU's own buffers, so nothing is copied between the two. It reports no memory of its own.
//
// Make it once, as a static of a function. The constructor registers it and ggml cannot remove it, so it must exist as
// long as the process. Its destructor does nothing, so that it outlives every other static. ggml's device list is not
// thread-safe: make the device before other threads read the list.
class BackendDevice {
 public:
  explicit BackendDevice(const BackendDeviceTraits& traits);
  BackendDevice(const BackendDevice&) = delete;
  BackendDevice& operator=(const BackendDevice&) = delete;

 private:
  BackendDeviceTraits traits_;
  ggml_backend_reg registry_;
  ggml_backend_device device_;
};

}  // namespace verbatim::accelerator
