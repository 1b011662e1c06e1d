#include "encoder_tap.h"

#include <ggml-backend-impl.h>
#include <ggml-cpu.h>

#include <memory>
#include <mutex>

namespace verbatim::bench {
namespace {

const char* const kName = "tap";

thread_local std::vector<float>* tapped = nullptr;

ggml_guid_t guid() {
  static ggml_guid id = {0x76, 0x62, 0x6d, 0x5f, 0x74, 0x61, 0x70};
  return &id;
}

// The encoder's own products have fresh results as inputs; those of the cross-attention have a view of its
// output.
bool reads_encoder_output(const ggml_tensor& node) {
  if (node.op != GGML_OP_MUL_MAT) return false;
  const ggml_tensor* const input = node.src[1];
  return input->op == GGML_OP_NONE && input->view_src != nullptr && input->view_src->data != nullptr &&
         input->type == GGML_TYPE_F32 && ggml_is_contiguous(input->view_src) && input->ne[1] > 1;
}

bool supports(ggml_backend_dev_t /*device*/, const ggml_tensor* node) {
  if (tapped != nullptr && reads_encoder_output(*node)) {
    const ggml_tensor& output = *node->src[1]->view_src;
    const auto* values = static_cast<const float*>(output.data);
    tapped->assign(values, values + ggml_nelements(&output));
  }
  return false;
}

ggml_backend_t make_backend(ggml_backend_dev_t device, const char* /*parameters*/) {
  auto backend = std::make_unique<ggml_backend>();
  backend->guid = guid();
  backend->iface.get_name = [](ggml_backend_t) { return kName; };
  backend->iface.free = [](ggml_backend_t self) { const std::unique_ptr<ggml_backend> owned(self); };
  backend->iface.graph_compute = [](ggml_backend_t, ggml_cgraph*) { return GGML_STATUS_FAILED; };
  backend->device = device;
  return backend.release();
}

ggml_backend_device_i device_interface() {
  ggml_backend_device_i i{};
  i.get_name = [](ggml_backend_dev_t) { return kName; };
  i.get_description = [](ggml_backend_dev_t) { return "sees the encoder's output"; };
  i.get_memory = [](ggml_backend_dev_t, std::size_t* free, std::size_t* total) { *free = *total = 0; };
  i.get_type = [](ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_ACCEL; };
  i.get_props = [](ggml_backend_dev_t, ggml_backend_dev_props* properties) { *properties = {}; };
  i.init_backend = make_backend;
  i.get_buffer_type = [](ggml_backend_dev_t) { return ggml_backend_cpu_buffer_type(); };
  i.supports_op = supports;
  i.supports_buft = [](ggml_backend_dev_t, ggml_backend_buffer_type_t type) {
    return ggml_backend_buft_is_host(type);
  };
  return i;
}

ggml_backend_dev_t device_of(ggml_backend_reg_t registry) {
  static ggml_backend_device device{device_interface(), registry, nullptr};
  return &device;
}

ggml_backend_reg_t registry() {
  static ggml_backend_reg reg = [] {
    ggml_backend_reg made{};
    made.api_version = GGML_BACKEND_API_VERSION;
    made.iface.get_name = [](ggml_backend_reg_t) { return kName; };
    made.iface.get_device_count = [](ggml_backend_reg_t) { return std::size_t{1}; };
    made.iface.get_device = [](ggml_backend_reg_t self, std::size_t) { return device_of(self); };
    made.iface.get_proc_address = [](ggml_backend_reg_t, const char*) -> void* { return nullptr; };
    return made;
  }();
  return &reg;
}

}  // namespace

void register_encoder_tap() {
  static std::once_flag once;
  std::call_once(once, [] { ggml_backend_device_register(device_of(registry())); });
}

EncoderTap::EncoderTap(std::vector<float>& target) { tapped = &target; }
EncoderTap::~EncoderTap() { tapped = nullptr; }

}  // namespace verbatim::bench
