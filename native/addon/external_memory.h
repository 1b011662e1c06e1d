#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "napi_setup.h"

namespace verbatim::addon {

// Native memory that is reported to V8 as long as this lives, so that the garbage collector knows what a small handle
// holds. A member of the native object, not of its JS handle: the bytes are subtracted once, when they are freed. Lives
// and dies on the JS thread.
class ExternalMemory {
 public:
  ExternalMemory(Napi::Env env, std::size_t bytes);
  ~ExternalMemory() { resize(0); }
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;

  void resize(std::size_t bytes) noexcept;

 private:
  napi_env env_;
  // The environment's total (AddonData::held_bytes).
  std::shared_ptr<std::int64_t> total_;
  std::size_t bytes_ = 0;
};

}  // namespace verbatim::addon
