#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "napi_setup.h"

namespace verbatim::addon {

// Native memory on V8's account for as long as this lives, so that the garbage collector knows what a small
// handle holds. A member of the native object itself, not of its JS handle: the bytes are given back when
// they are freed, once. Lives and dies on the JS thread.
class ExternalMemory {
 public:
  ExternalMemory(Napi::Env env, std::size_t bytes);
  ~ExternalMemory() { resize(0); }
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;

  void resize(std::size_t bytes) noexcept;

 private:
  napi_env env_;
  // The environment's sum (AddonData::held_bytes).
  std::shared_ptr<std::int64_t> total_;
  std::size_t bytes_ = 0;
};

}  // namespace verbatim::addon
