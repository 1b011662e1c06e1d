#include "external_memory.h"

#include "addon_data.h"

namespace verbatim::addon {

ExternalMemory::ExternalMemory(Napi::Env env, std::size_t bytes) : env_(env), total_(addon_data(env).held_bytes) {
  resize(bytes);
}

void ExternalMemory::resize(std::size_t bytes) noexcept {
  const std::int64_t change = static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(bytes_);
  std::int64_t adjusted = 0;
  if (change == 0 || napi_adjust_external_memory(env_, change, &adjusted) != napi_ok) return;
  bytes_ = bytes;
  *total_ += change;
}

}  // namespace verbatim::addon
