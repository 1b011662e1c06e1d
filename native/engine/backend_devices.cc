#include "backend_devices.h"

#include <ggml.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "accelerator/accelerator.h"
#include "error.h"
#include "vulkan_devices.h"

namespace verbatim {
namespace {

// Sets a variable that ggml's Vulkan backend reads while it starts.
class EnvironmentScope {
 public:
  EnvironmentScope(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentScope() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

constexpr const char* kVisibleDevices = "GGML_VK_VISIBLE_DEVICES";
constexpr const char* kWithoutFloat16 = "GGML_VK_DISABLE_F16";

void start_backends(const std::vector<VulkanDevice>& devices) {
  std::string visible;
  for (const VulkanDevice& device : devices) visible += (visible.empty() ? "" : ",") + std::to_string(device.index);
  std::optional<EnvironmentScope> scope;
  if (!visible.empty()) scope.emplace(kVisibleDevices, visible);
  // Vulkan's backend logs each device to standard error.
  ggml_log_callback log = nullptr;
  void* log_data = nullptr;
  ggml_log_get(&log, &log_data);
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  accelerator::register_backend_device();
  ggml_backend_dev_count();
  ggml_log_set(log, log_data);
}

std::uint64_t total_memory(ggml_backend_dev_t backend) {
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(backend, &free, &total);
  return total;
}

bool is_gpu(ggml_backend_dev_t backend) {
  const auto type = ggml_backend_dev_type(backend);
  return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

bool is_vulkan(ggml_backend_dev_t backend) {
  return std::string_view(ggml_backend_reg_name(ggml_backend_dev_backend_reg(backend))) == "Vulkan";
}

std::string pci_address_of(ggml_backend_dev_t backend) {
  ggml_backend_dev_props properties{};
  ggml_backend_dev_get_props(backend, &properties);
  return properties.device_id == nullptr ? "" : properties.device_id;
}

// ggml's GPUs, in whisper.cpp's order.
std::vector<ggml_backend_dev_t> backend_gpus() {
  std::vector<ggml_backend_dev_t> gpus;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t backend = ggml_backend_dev_get(i);
    if (is_gpu(backend)) gpus.push_back(backend);
  }
  return gpus;
}

BackendDevice cuda_device(ggml_backend_dev_t backend, std::size_t number, int gpu_number) {
  const auto type =
      ggml_backend_dev_type(backend) == GGML_BACKEND_DEVICE_TYPE_IGPU ? DeviceType::kIntegrated : DeviceType::kDiscrete;
  return {{"cuda:" + std::to_string(number), type, ggml_backend_dev_description(backend), "", total_memory(backend)},
          backend,
          gpu_number};
}

std::vector<BackendDevice> find_backend_devices() {
  const std::vector<VulkanDevice> cards = usable_vulkan_devices(all_vulkan_devices());
  start_backends(cards);
  std::vector<BackendDevice> devices;
  const ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (cpu != nullptr) {
    devices.push_back(
        {{"cpu", DeviceType::kProcessor, ggml_backend_dev_description(cpu), "", total_memory(cpu)}, cpu, {}});
  }
  const std::vector<ggml_backend_dev_t> gpus = backend_gpus();
  std::vector<std::string> cuda_addresses;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (is_vulkan(gpus[i])) continue;
    devices.push_back(cuda_device(gpus[i], cuda_addresses.size(), static_cast<int>(i)));
    cuda_addresses.push_back(pci_address_of(gpus[i]));
  }
  const std::vector<std::string> ids = vulkan_ids(cards, cuda_addresses);
  std::size_t next = 0;
  for (std::size_t i = 0; i < gpus.size() && next < cards.size(); ++i) {
    if (!is_vulkan(gpus[i])) continue;
    const VulkanDevice& card = cards[next];
    const std::string& id = ids[next++];
    if (id.empty()) continue;
    devices.push_back({{id, card.type, card.name, card.driver, card.memory_bytes}, gpus[i], static_cast<int>(i)});
  }
  return devices;
}

bool is_number(std::string_view digits) {
  return !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string_view::npos &&
         (digits.size() == 1 || digits.front() != '0');
}

bool is_spelled_like_a_device(std::string_view id) {
  if (id == "cpu" || id == "vulkan:software") return true;
  for (const std::string_view prefix : {"cuda:", "vulkan:"}) {
    if (id.starts_with(prefix)) return is_number(id.substr(prefix.size()));
  }
  return false;
}

// ggml opens a Vulkan device on first use.
void open(const BackendDevice& device) {
  try {
    ggml_backend_dev_buffer_type(device.backend);
  } catch (const std::exception& error) {
    throw EngineError(ErrorCode::kDeviceUnavailable, device.info.id + " cannot be opened: " + error.what());
  }
}

std::string unavailable_message(std::string_view id) {
  const bool is_cuda = id.starts_with("cuda:");
  const bool is_built_in = is_cuda ? built_with_cuda() : built_with_vulkan();
  std::string message = "device \"" + std::string(id) + "\" is not available: this build has ";
  message += is_built_in ? "" : "no ";
  message += is_cuda ? "CUDA; there is " : "Vulkan; there is ";
  const auto& devices = backend_devices();
  for (std::size_t i = 0; i < devices.size(); ++i) message += (i == 0 ? "" : ", ") + devices[i].info.id;
  return message;
}

}  // namespace

const std::vector<BackendDevice>& backend_devices() {
  static const std::vector<BackendDevice> devices = find_backend_devices();
  return devices;
}

const BackendDevice& backend_device(std::string_view id) {
  if (!is_spelled_like_a_device(id)) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "\"" + std::string(id) +
                          "\" is not a device; allowed are \"cpu\", \"cuda:N\" and \"vulkan:N\" (N = 0, 1, ...), and "
                          "\"vulkan:software\"");
  }
  for (const BackendDevice& device : backend_devices()) {
    if (device.info.id == id) return device;
  }
  throw EngineError(ErrorCode::kDeviceUnavailable, unavailable_message(id));
}

ggml_backend_dev_t open_backend_device(std::string_view id, bool in_float32) {
  const BackendDevice& device = backend_device(id);
  if (!is_vulkan(device.backend)) return device.backend;
  static std::mutex mutex;
  static std::map<std::string, bool, std::less<>> opened_in_float32;
  const std::lock_guard lock(mutex);
  const auto found = opened_in_float32.find(id);
  if (found == opened_in_float32.end()) {
    std::optional<EnvironmentScope> scope;
    if (in_float32) scope.emplace(kWithoutFloat16, "1");
    open(device);
    opened_in_float32.emplace(id, std::getenv(kWithoutFloat16) != nullptr);
  } else if (in_float32 && !found->second) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      std::string(id) +
                          " was opened by this process to compute in float16, and float32 is asked for; "
                          "set the same compute type for every model on it");
  }
  return device.backend;
}

}  // namespace verbatim
