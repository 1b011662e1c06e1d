#pragma once

#include <cstdint>
#include <memory>

#include "compute_threads.h"
#include "napi_setup.h"
#include "running_calls.h"

namespace verbatim::addon {

// The addon's state in one environment (the main thread or a worker thread). There are no globals, so any number of
// environments can load the addon at the same time.
struct AddonData {
  explicit AddonData(Napi::Env env) : running_calls(env) {}

  Napi::FunctionReference audio_reader;
  Napi::FunctionReference audio_window;
  Napi::FunctionReference live_audio;
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

  // The native object that the handle being constructed takes over (Handle::wrap).
  std::shared_ptr<void> adopting;

  // Bytes of native memory held by live handles and running work. Shared, because the last bytes may be released while
  // the environment is being torn down.
  std::shared_ptr<std::int64_t> held_bytes = std::make_shared<std::int64_t>(0);

  RunningCalls running_calls;

  // Runs the work of run_on_worker. Shared with the work itself, which may outlive the environment's JavaScript.
  std::shared_ptr<ComputeThreads> compute_threads = std::make_shared<ComputeThreads>();
};

inline AddonData& addon_data(Napi::Env env) { return *env.GetInstanceData<AddonData>(); }

}  // namespace verbatim::addon
