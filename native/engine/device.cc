#include "device.h"

#include <ggml-backend.h>

#include <string>

#include "accelerator/accelerator.h"
#include "error.h"

namespace verbatim {
namespace {

std::uint64_t total_memory(ggml_backend_dev_t backend_device) {
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(backend_device, &free, &total);
  return total;
}

bool is_gpu(ggml_backend_dev_t backend_device) {
  const auto type = ggml_backend_dev_type(backend_device);
  return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

bool is_spelled_like_a_device(std::string_view id) {
  if (id == "cpu") return true;
  constexpr std::string_view kPrefix = "cuda:";
  const std::string_view digits = id.substr(0, kPrefix.size()) == kPrefix ? id.substr(kPrefix.size()) : "";
  return !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string_view::npos &&
         (digits.size() == 1 || digits.front() != '0');
}

std::string unavailable_message(std::string_view id, const std::vector<DeviceInfo>& devices) {
  std::string message = "device \"" + std::string(id) + "\" is not available: ";
  message += built_with_cuda() ? "CUDA is built in, but the devices there are " : "built without CUDA; there is ";
  for (std::size_t i = 0; i < devices.size(); ++i) message += (i == 0 ? "" : ", ") + devices[i].id;
  return message;
}

}  // namespace

bool built_with_cuda() noexcept {
#ifdef VERBATIM_CUDA
  return true;
#else
  return false;
#endif
}

std::vector<DeviceInfo> list_devices() {
  accelerator::register_backend_device();
  std::vector<DeviceInfo> devices;
  const ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (cpu != nullptr) devices.push_back({"cpu", ggml_backend_dev_description(cpu), total_memory(cpu)});
  // whisper.cpp's gpu_device counts GPUs in exactly this order.
  int index = 0;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t backend_device = ggml_backend_dev_get(i);
    if (!is_gpu(backend_device)) continue;
    devices.push_back(
        {"cuda:" + std::to_string(index), ggml_backend_dev_description(backend_device), total_memory(backend_device)});
    ++index;
  }
  return devices;
}

DeviceInfo find_device(std::string_view id) {
  if (!is_spelled_like_a_device(id)) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        "\"" + std::string(id) + "\" is not a device; allowed are \"cpu\" and \"cuda:N\" (N = 0, 1, ...)");
  }
  const std::vector<DeviceInfo> devices = list_devices();
  for (const DeviceInfo& device : devices) {
    if (device.id == id) return device;
  }
  throw EngineError(ErrorCode::kDeviceUnavailable, unavailable_message(id, devices));
}

}  // namespace verbatim
