#pragma once

#include <cstdint>
#include <memory>

#include "compute_threads.h"
#include "napi_setup.h"
#include "running_calls.h"

namespace verbatim::addon {

// What the addon knows about one environment (the main thread or a worker thread). There are no globals, so
// the addon can be loaded into any number of them at once.
struct AddonData {
  explicit AddonData(Napi::Env env) : running_calls(env) {}

  Napi::FunctionReference audio_reader;
  Napi::FunctionReference audio_window;
  Napi::FunctionReference sample_reader;
  Napi::FunctionReference voice_activity_model;
  Napi::FunctionReference speech_model;
  Napi::FunctionReference slot;
  Napi::FunctionReference recogniser;
  Napi::FunctionReference window_in_flight;
  Napi::FunctionReference window_encoder;
  Napi::FunctionReference decoder_batch;
  Napi::FunctionReference translation_model;
  Napi::FunctionReference translator;

  // The native object on its way into the handle being constructed (Handle::wrap).
  std::shared_ptr<void> adopting;

  // Native memory that live handles and running work hold; shared, because the last of it may be given back
  // while the environment is being taken apart.
  std::shared_ptr<std::int64_t> held_bytes = std::make_shared<std::int64_t>(0);

  RunningCalls running_calls;

  // Where run_on_worker's work is done; shared with the work itself, which may outlive the environment's
  // JavaScript.
  std::shared_ptr<ComputeThreads> compute_threads = std::make_shared<ComputeThreads>();
};

inline AddonData& addon_data(Napi::Env env) { return *env.GetInstanceData<AddonData>(); }

}  // namespace verbatim::addon
