#include "transformer/gpu/device.h"

#include <ggml-cpu.h>

namespace verbatim::transformer {

GpuDevice::GpuDevice(ggml_backend_dev_t backend_device)
    : backend_(ggml_backend_dev_init(backend_device, nullptr)), memory_(ggml_backend_dev_buffer_type(backend_device)) {
  if (!backend_) throw_out_of_device_memory();
}

void GpuDevice::set_threads(int threads) {
  if (ggml_backend_is_cpu(backend_.get())) ggml_backend_cpu_set_n_threads(backend_.get(), threads);
}

ggml_gallocr_ptr GpuDevice::new_allocator() const {
  ggml_gallocr_ptr allocator(ggml_gallocr_new(memory_));
  if (!allocator) throw_out_of_device_memory();
  return allocator;
}

}  // namespace verbatim::transformer
