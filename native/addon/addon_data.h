#pragma once

#include <memory>

#include "napi_setup.h"
#include "running_calls.h"

namespace verbatim::addon {

// What the addon knows about one environment (the main thread or a worker thread). There are no globals, so
// the addon can be loaded into any number of them at once.
struct AddonData {
  explicit AddonData(Napi::Env env) : running_calls(env) {}

  Napi::FunctionReference audio_reader;
  Napi::FunctionReference audio_window;
  Napi::FunctionReference speech_model;
  Napi::FunctionReference slot;

  // The native object on its way into the handle being constructed (Handle::wrap).
  std::shared_ptr<void> adopting;

  RunningCalls running_calls;
};

inline AddonData& addon_data(Napi::Env env) { return *env.GetInstanceData<AddonData>(); }

}  // namespace verbatim::addon
