#include "running_calls.h"

#include <utility>

namespace verbatim::addon {

RunningCalls::RunningCalls(Napi::Env env) { abort_on_exit_event(env); }

void RunningCalls::add(std::shared_ptr<AbortFlag> flag) { flags_.insert(std::move(flag)); }

void RunningCalls::remove(const std::shared_ptr<AbortFlag>& flag) { flags_.erase(flag); }

void RunningCalls::abort_all() {
  for (const auto& flag : flags_) flag->set();
}

void RunningCalls::abort_on_exit_event(Napi::Env env) {
  const auto listener = Napi::Function::New(env, [this](const Napi::CallbackInfo&) { abort_all(); });
  const Napi::Object process = env.Global().Get("process").As<Napi::Object>();
  process.Get("once").As<Napi::Function>().Call(process, {Napi::String::New(env, "exit"), listener});
}

}  // namespace verbatim::addon
