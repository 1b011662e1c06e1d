#include "speech/model_source.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "backend_devices.h"
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

void check_room(const DeviceInfo& device, std::uint64_t needed) {
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(backend_device(device.id).backend, &free, &total);
  if (needed > free) {
    throw EngineError(ErrorCode::kOutOfMemory, "the model needs " + std::to_string(needed >> 20) + " MiB, " +
                                                   device.id + " has " + std::to_string(free >> 20) + " MiB free");
  }
}

}  // namespace verbatim
