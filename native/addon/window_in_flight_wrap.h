#pragma once

#include <memory>
#include <vector>

#include "audio_window_wrap.h"
#include "external_memory.h"
#include "handle.h"
#include "recogniser_wrap.h"
#include "speech/recogniser.h"

namespace verbatim::addon {

// A window in flight, its samples and its model, and its memory, reported to V8. Lives and dies on the JS thread: a
// batch that works on it keeps a reference (HeldBatch), so that a worker never drops the last one.
struct HeldInFlight {
  enum class Place { kAtRest, kInEncoder, kInBatch };

  HeldInFlight(Napi::Env env, std::shared_ptr<HeldRecogniser> of, std::shared_ptr<HeldWindow> cut,
               const DecodeOptions& options);

  // The stage as the JS thread sees it: while work is running, the stage that it began with.
  WindowStage stage() const noexcept;

  const std::shared_ptr<HeldRecogniser> model;
  const std::shared_ptr<WindowInFlight> window;
  // The window's place in its file.
  const TimeLine time_line;
  Place place = Place::kAtRest;
  bool is_aborted = false;
  bool has_given_result = false;
  ExternalMemory memory;
};

// "encode", "decode", "done"
Napi::String to_js(Napi::Env env, WindowStage stage);

// Throws EngineError kInvalidArgument while an encoder or a batch works on the window.
void require_at_rest(const HeldInFlight& held);
// The same, and also unless the window is at this stage.
void require_at_rest(const HeldInFlight& held, WindowStage stage);

// WindowInFlight of the contract.
class WindowInFlightWrap : public Handle<WindowInFlightWrap, HeldInFlight> {
 public:
  static constexpr const char* kName = "WindowInFlight";
  static constexpr napi_type_tag kTag = {0xe18d42b6039f4c57, 0x81f6c05a7e2d49b3};
  static constexpr auto kConstructor = &AddonData::window_in_flight;
  static std::vector<PropertyDescriptor> members();

  explicit WindowInFlightWrap(const Napi::CallbackInfo& info) : Handle(info) {}

 private:
  Napi::Value stage(const Napi::CallbackInfo& info);
  Napi::Value result(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
