#include "call_abort.h"

#include "addon_data.h"
#include "failure.h"
#include "promise_work.h"

namespace verbatim::addon {
namespace {

// Accepts any object with the interface of an AbortSignal: Node-API cannot check for the class itself, and other realms
// have classes of their own.
bool is_abort_signal(Napi::Value value) {
  if (!value.IsObject()) return false;
  const Napi::Object object = value.As<Napi::Object>();
  return object.Get("aborted").IsBoolean() && object.Get("addEventListener").IsFunction() &&
         object.Get("removeEventListener").IsFunction();
}

Napi::Value signal_of(Napi::Env env, Napi::Value call) {
  if (call.IsUndefined()) return call;
  if (!call.IsObject()) throw argument_error(env, "call must be an object like { signal }.");
  const Napi::Value signal = call.As<Napi::Object>().Get("signal");
  if (!signal.IsUndefined() && !is_abort_signal(signal)) {
    throw argument_error(env, "call.signal must be an AbortSignal.");
  }
  return signal;
}

void call_method(Napi::Object object, const char* method, Napi::Function listener) {
  const Napi::String event = Napi::String::New(object.Env(), "abort");
  object.Get(method).As<Napi::Function>().Call(object, {event, listener});
}

}  // namespace

CallAbort::CallAbort(Napi::Env env, Napi::Value call) : env_(env) {
  const Napi::Value signal = signal_of(env, call);
  if (!signal.IsUndefined()) listen(env, signal.As<Napi::Object>());
  addon_data(env).running_calls.add(flag_.get(), [flag = flag_] { flag->set(); });
}

CallAbort::~CallAbort() {
  if (!flag_) return;  // moved from
  const Napi::Env env(env_);
  const Napi::HandleScope scope(env);
  addon_data(env).running_calls.remove(flag_.get());
  if (signal_.IsEmpty() || !can_run_js(env)) return;
  try {
    call_method(signal_.Value(), "removeEventListener", listener_.Value());
  } catch (const Napi::Error&) {
    // The method was replaced. The listener stays and sets a flag that nobody reads.
  }
}

void CallAbort::listen(Napi::Env env, Napi::Object signal) {
  if (signal.Get("aborted").ToBoolean()) {
    throw EngineError(ErrorCode::kAborted, "The call was aborted before it began.");
  }
  const auto set = [flag = flag_](const Napi::CallbackInfo&) { flag->set(); };
  const Napi::Function listener = Napi::Function::New(env, set, "verbatimAbort");
  call_method(signal, "addEventListener", listener);
  signal_ = Napi::Persistent(signal);
  listener_ = Napi::Persistent(listener);
}

}  // namespace verbatim::addon
