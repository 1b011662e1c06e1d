#include "running_calls.h"

#include <utility>

namespace verbatim::addon {

RunningCalls::RunningCalls(Napi::Env env) { abort_on_exit_event(env); }

void RunningCalls::add(const void* call, std::function<void()> abort) {
  calls_.insert_or_assign(call, std::move(abort));
}

void RunningCalls::remove(const void* call) { calls_.erase(call); }

void RunningCalls::abort_all() {
  for (const auto& [call, abort] : calls_) abort();
}

void RunningCalls::abort_on_exit_event(Napi::Env env) {
  const auto listener = Napi::Function::New(env, [this](const Napi::CallbackInfo&) { abort_all(); });
  const Napi::Object process = env.Global().Get("process").As<Napi::Object>();
  process.Get("once").As<Napi::Function>().Call(process, {Napi::String::New(env, "exit"), listener});
}

}  // namespace verbatim::addon
