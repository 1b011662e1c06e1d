#include "accelerator/backend_device.h"

#include <ggml-cpu.h>

#include <type_traits>

namespace verbatim::accelerator {
namespace {

static_assert(std::is_trivially_destructible_v<BackendDevice>, "it has to outlive every other static");

const BackendDeviceTraits& traits_of(ggml_backend_dev_t backend_device) {
  return *static_cast<const BackendDeviceTraits*>(backend_device->context);
}

ggml_backend_dev_t device_of(ggml_backend_reg_t registry) { return static_cast<ggml_backend_dev_t>(registry->context); }

void describe(ggml_backend_dev_t backend_device, ggml_backend_dev_props* properties) {
  *properties = {};
  properties->name = traits_of(backend_device).name;
  properties->description = traits_of(backend_device).description;
  properties->type = GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

ggml_backend_device_i device_interface() {
  ggml_backend_device_i i{};
  i.get_name = [](ggml_backend_dev_t backend_device) { return traits_of(backend_device).name; };
  i.get_description = [](ggml_backend_dev_t backend_device) { return traits_of(backend_device).description; };
  i.get_memory = [](ggml_backend_dev_t, std::size_t* free, std::size_t* total) { *free = *total = 0; };
  i.get_type = [](ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_ACCEL; };
  i.get_props = describe;
  i.init_backend = [](ggml_backend_dev_t backend_device, const char*) {
    return traits_of(backend_device).make_backend(backend_device);
  };
  i.get_buffer_type = [](ggml_backend_dev_t) { return ggml_backend_cpu_buffer_type(); };
  i.supports_op = [](ggml_backend_dev_t backend_device, const ggml_tensor* node) {
    return traits_of(backend_device).supports(*node);
  };
  i.supports_buft = [](ggml_backend_dev_t, ggml_backend_buffer_type_t type) { return ggml_backend_buft_is_host(type); };
  return i;
}

ggml_backend_reg_i registry_interface() {
  ggml_backend_reg_i i{};
  i.get_name = [](ggml_backend_reg_t registry) { return traits_of(device_of(registry)).name; };
  i.get_device_count = [](ggml_backend_reg_t) { return std::size_t{1}; };
  i.get_device = [](ggml_backend_reg_t registry, std::size_t) { return device_of(registry); };
  i.get_proc_address = [](ggml_backend_reg_t registry, const char* name) -> void* {
    const BackendDeviceTraits& traits = traits_of(device_of(registry));
    return traits.get_proc_address == nullptr ? nullptr : traits.get_proc_address(name);
  };
  return i;
}

}  // namespace

BackendDevice::BackendDevice(const BackendDeviceTraits& traits)
    : traits_(traits),
      registry_{GGML_BACKEND_API_VERSION, registry_interface(), &device_},
      device_{device_interface(), &registry_, &traits_} {
  ggml_backend_device_register(&device_);
}

}  // namespace verbatim::accelerator
