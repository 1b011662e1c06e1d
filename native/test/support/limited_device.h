#pragma once

#include <ggml-backend-impl.h>
#include <ggml-cpu.h>

#include <cstddef>
#include <system_error>

namespace verbatim::test {

// What the limited device refuses, and how it fails. One test at a time sets it.
struct DeviceLimits {
  // No node with such an operation is computed.
  ggml_op refused = GGML_OP_COUNT;
  // No larger matrix is multiplied. 0: every size.
  std::size_t largest_matrix = 0;
  // The error that computing throws, as Vulkan's C++ wrapper throws results; 0: none.
  int failure = 0;
};

inline DeviceLimits& device_limits() {
  static DeviceLimits limits;
  return limits;
}

// Sets limits until the end of a test.
class LimitsScope {
 public:
  explicit LimitsScope(DeviceLimits limits) { device_limits() = limits; }
  ~LimitsScope() { device_limits() = {}; }
  LimitsScope(const LimitsScope&) = delete;
  LimitsScope& operator=(const LimitsScope&) = delete;
};

class ResultCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "vk::Result"; }
  std::string message(int value) const override { return "result " + std::to_string(value); }
};

// ggml's CPU device with limits: a device's refusals and failures without a device that has them.
inline ggml_backend_dev_t limited_device() {
  static ggml_backend_device device = [] {
    ggml_backend_device copy = *ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    copy.iface.get_description = [](ggml_backend_dev_t) { return "limited"; };
    copy.iface.supports_op = [](ggml_backend_dev_t, const ggml_tensor* node) {
      const DeviceLimits& limits = device_limits();
      if (node->op == limits.refused) return false;
      return limits.largest_matrix == 0 || node->op != GGML_OP_MUL_MAT ||
             ggml_nbytes(node->src[0]) <= limits.largest_matrix;
    };
    copy.iface.init_backend = [](ggml_backend_dev_t, const char*) {
      static const auto compute = [] {
        const ggml_backend_t plain = ggml_backend_cpu_init();
        const auto function = plain->iface.graph_compute;
        ggml_backend_free(plain);
        return function;
      }();
      const ggml_backend_t backend = ggml_backend_cpu_init();
      backend->iface.graph_compute = [](ggml_backend_t of, ggml_cgraph* graph) {
        static const ResultCategory category;
        if (device_limits().failure != 0) throw std::system_error(device_limits().failure, category, "compute");
        return compute(of, graph);
      };
      return backend;
    };
    return copy;
  }();
  return &device;
}

}  // namespace verbatim::test
