#pragma once

#include <memory>
#include <unordered_set>

#include "abort.h"
#include "napi_setup.h"

namespace verbatim::addon {

// The calls of one environment that can be aborted. Node.js lets running work finish before an environment
// ends, so its exit event (process.exit, an uncaught exception) aborts them all: a window that nobody will
// read must not hold up the exit. A worker thread that is terminated has no such event: it ends when its
// running calls do. JS thread only.
class RunningCalls {
 public:
  explicit RunningCalls(Napi::Env env);

  void add(std::shared_ptr<AbortFlag> flag);
  void remove(const std::shared_ptr<AbortFlag>& flag);

 private:
  void abort_on_exit_event(Napi::Env env);
  void abort_all();

  std::unordered_set<std::shared_ptr<AbortFlag>> flags_;
};

}  // namespace verbatim::addon
