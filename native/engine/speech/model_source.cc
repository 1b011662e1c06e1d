#include "speech/model_source.h"

#include <ggml-backend.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "error.h"
#include "speech/model_file.h"

namespace verbatim {

std::ifstream open_model_file(const std::filesystem::path& path) {
  require_model_file(path);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw EngineError(ErrorCode::kIoError, "cannot open the model file " + path.string() + ": " + std::strerror(errno));
  }
  return stream;
}

std::optional<int> gpu_number(const DeviceInfo& device) {
  if (device.id == "cpu") return std::nullopt;
  return std::stoi(device.id.substr(device.id.find(':') + 1));
}

void check_room(const DeviceInfo& device, std::uint64_t needed) {
  const std::optional<int> gpu = gpu_number(device);
  std::size_t free = 0;
  std::size_t total = 0;
  int index = 0;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t candidate = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(candidate);
    const bool on_gpu = type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    const bool wanted = gpu ? on_gpu && index == *gpu : type == GGML_BACKEND_DEVICE_TYPE_CPU;
    if (on_gpu) ++index;
    if (wanted) ggml_backend_dev_memory(candidate, &free, &total);
  }
  if (needed > free) {
    throw EngineError(ErrorCode::kOutOfMemory, "the model needs " + std::to_string(needed >> 20) + " MiB, " +
                                                   device.id + " has " + std::to_string(free >> 20) + " MiB free");
  }
}

}  // namespace verbatim
