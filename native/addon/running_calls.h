#pragma once

#include <functional>
#include <unordered_map>

#include "napi_setup.h"

namespace verbatim::addon {

// The calls of one environment that can be aborted. Node.js lets running work finish before an environment
// ends, so its exit event (process.exit, an uncaught exception) aborts them all: a window that nobody will
// read must not hold up the exit. A worker thread that is terminated has no such event: it ends when its
// running calls do. JS thread only.
class RunningCalls {
 public:
  explicit RunningCalls(Napi::Env env);

  // `abort` makes the call end soon; `call` is any address that is the call's own.
  void add(const void* call, std::function<void()> abort);
  void remove(const void* call);

 private:
  void abort_on_exit_event(Napi::Env env);
  void abort_all();

  std::unordered_map<const void*, std::function<void()>> calls_;
};

}  // namespace verbatim::addon
