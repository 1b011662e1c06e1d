#pragma once

#include <functional>
#include <unordered_map>

#include "napi_setup.h"

namespace verbatim::addon {

// The abortable calls of one environment. Node.js waits for running work before an environment ends, so its exit event
// (process.exit, an uncaught exception) aborts all of them: an unneeded window must not delay the exit. A terminated
// worker thread has no such event; it ends when its running calls do. JS thread only.
class RunningCalls {
 public:
  explicit RunningCalls(Napi::Env env);

  // `abort` makes the call end soon. `call`: any address that identifies the call.
  void add(const void* call, std::function<void()> abort);
  void remove(const void* call);

 private:
  void abort_on_exit_event(Napi::Env env);
  void abort_all();

  std::unordered_map<const void*, std::function<void()>> calls_;
};

}  // namespace verbatim::addon
