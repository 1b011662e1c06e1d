#pragma once

#include <ggml-backend-impl.h>

namespace verbatim::accelerator {

// What a backend device in the CPU's memory is and does. All of it is called from whichever thread runs ggml,
// from several at once, and must not throw.
struct BackendDeviceTraits {
  // Of static storage: ggml hands the pointers on.
  const char* name;
  const char* description;
  // A backend of this device for one state; null where none is wanted. Whoever asked frees it through its
  // interface.
  ggml_backend_t (*make_backend)(ggml_backend_dev_t backend_device);
  // Whether the device takes this operation.
  bool (*supports)(const ggml_tensor& node);
  // The function of a backend that ggml's interface has no place for, such as "ggml_backend_set_n_threads",
  // or null for a name it has none for. Null: it has none.
  void* (*get_proc_address)(const char* name) = nullptr;
  // Whether it works in these buffers, which are not the CPU's own. Null: in none.
  bool (*works_in)(ggml_backend_buffer_type_t type) = nullptr;
};

// A backend device of ggml of type ACCEL, which whisper.cpp puts ahead of its CPU backend, with the registry
// that ggml wants around a device. It works in the CPU's own buffers: nothing is copied between the two, and
// it reports no memory of its own.
//
// Made once, as a static of a function: the constructor registers it, ggml cannot take it back, and so it has
// to be there as long as the process. Its destructor does nothing, so that it outlives every other static.
// ggml's list of devices is not guarded: make it before other threads read that.
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
