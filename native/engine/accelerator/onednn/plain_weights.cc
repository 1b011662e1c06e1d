#include "accelerator/onednn/plain_weights.h"

#include <ggml-backend-impl.h>
#include <ggml-cpu.h>

#include <cstring>

#include "accelerator/accelerator.h"

namespace verbatim::accelerator {
namespace {

using GetProcAddress = decltype(ggml_backend_reg_i::get_proc_address);

thread_local bool loads_plain = false;
GetProcAddress original = nullptr;

void* get_proc_address(ggml_backend_reg_t registry, const char* name) {
  if (loads_plain && std::strcmp(name, "ggml_backend_dev_get_extra_bufts") == 0) return nullptr;
  return original(registry, name);
}

}  // namespace

void wrap_extra_buffer_types() {
  GetProcAddress& answering = ggml_backend_cpu_reg()->iface.get_proc_address;
  original = answering;
  answering = get_proc_address;
}

LoadScope::LoadScope(const WeightStore* store) { loads_plain = store != nullptr; }
LoadScope::~LoadScope() { loads_plain = false; }

}  // namespace verbatim::accelerator
