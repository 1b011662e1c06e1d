#include "window_in_flight_wrap.h"

#include <utility>

#include "speech_conversion.h"

namespace verbatim::addon {
namespace {

// Shares ownership of the samples' holder, whose memory is reported to V8.
std::shared_ptr<const Window> samples_of(const std::shared_ptr<HeldWindow>& held) { return {held, &held->window}; }

[[noreturn]] void refuse(const char* why) { throw EngineError(ErrorCode::kInvalidArgument, why); }

}  // namespace

HeldInFlight::HeldInFlight(Napi::Env env, std::shared_ptr<HeldRecogniser> of, std::shared_ptr<HeldWindow> cut,
                           const DecodeOptions& options)
    : model(std::move(of)),
      window(model->model->open(samples_of(cut), options)),
      time_line(cut->window.time_line()),
      memory(env, window->memory_bytes()) {}

WindowStage HeldInFlight::stage() const noexcept {
  switch (place) {
    case Place::kInEncoder:
      return WindowStage::kEncode;
    case Place::kInBatch:
      return WindowStage::kDecode;
    case Place::kAtRest:
      break;
  }
  return window->stage();
}

Napi::String to_js(Napi::Env env, WindowStage stage) {
  const char* name = stage == WindowStage::kEncode ? "encode" : stage == WindowStage::kDecode ? "decode" : "done";
  return Napi::String::New(env, name);
}

void require_at_rest(const HeldInFlight& held) {
  if (held.place == HeldInFlight::Place::kInEncoder) refuse("An encoder works on this window already.");
  if (held.place == HeldInFlight::Place::kInBatch) refuse("This window is in a batch.");
}

void require_at_rest(const HeldInFlight& held, WindowStage stage) {
  require_at_rest(held);
  if (held.window->stage() == stage) return;
  refuse(stage == WindowStage::kEncode   ? "This window is not to be encoded at this stage."
         : stage == WindowStage::kDecode ? "This window is not to be decoded at this stage."
                                         : "This window is not done.");
}

std::vector<WindowInFlightWrap::PropertyDescriptor> WindowInFlightWrap::members() {
  return {InstanceAccessor<&WindowInFlightWrap::stage>("stage", napi_enumerable),
          InstanceMethod<&WindowInFlightWrap::result>("result"), InstanceMethod<&WindowInFlightWrap::abort>("abort"),
          closing_method("release")};
}

Napi::Value WindowInFlightWrap::stage(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return value_from(env, [&] { return to_js(env, state()->stage()); });
}

Napi::Value WindowInFlightWrap::result(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return value_from(env, [&] {
    HeldInFlight& held = *state();
    require_at_rest(held);
    if (!held.is_aborted) require_at_rest(held, WindowStage::kDone);
    if (held.has_given_result) refuse("The result of this window has been taken.");
    held.has_given_result = true;
    return to_js(env, held.window->result(), held.time_line);
  });
}

void WindowInFlightWrap::abort(const Napi::CallbackInfo& info) {
  static_cast<void>(value_from(info.Env(), [&] {
    state()->window->abort();
    state()->is_aborted = true;
    return info.Env().Undefined();
  }));
}

}  // namespace verbatim::addon
