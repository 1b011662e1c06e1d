#pragma once

#include <memory>

#include "abort.h"
#include "napi_setup.h"

namespace verbatim::addon {

// What may abort a running call: the caller's AbortSignal, or the end of the environment. A member of the call's work:
// listens from construction to destruction. Made and destroyed on the JS thread.
class CallAbort {
 public:
  // `call`: the call's last argument, undefined or an object with an optional AbortSignal as `signal`. Throws a JS
  // TypeError for anything else, EngineError kAborted if the signal is aborted already.
  CallAbort(Napi::Env env, Napi::Value call);
  ~CallAbort();
  CallAbort(CallAbort&&) noexcept = default;
  CallAbort& operator=(CallAbort&&) = delete;

  const AbortFlag* flag() const noexcept { return flag_.get(); }

 private:
  void listen(Napi::Env env, Napi::Object signal);

  napi_env env_;
  std::shared_ptr<AbortFlag> flag_ = std::make_shared<AbortFlag>();
  Napi::ObjectReference signal_;
  Napi::FunctionReference listener_;
};

}  // namespace verbatim::addon
