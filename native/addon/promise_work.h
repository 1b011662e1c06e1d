#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "addon_data.h"
#include "caller_stack.h"
#include "failure.h"
#include "napi_setup.h"

namespace verbatim::addon {

// False once the environment is ending: nobody waits for an answer, and most of Node-API fails.
bool can_run_js(Napi::Env env);

Napi::Promise rejected(const Napi::Error& error);

// The JS-thread part of a call that returns a promise (checking arguments, taking what the work needs): what
// it throws becomes a rejection, as it would in an async function.
template <typename Call>
Napi::Promise promise_from(Napi::Env env, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Napi::Error& error) {
    return rejected(error);
  } catch (...) {
    return rejected(to_js_error(env, current_failure()));
  }
}

// The bridge from a blocking call to a promise, the only one. `run()` makes a value and must not touch
// Node-API: a libuv worker thread waits while one of the environment's compute threads runs it; `convert(env,
// value)` makes JavaScript of it on the JS thread. An exception in `run` becomes a value at the thread's edge
// and then the promise's rejection, with the caller's stack.
//
// What `run` captures keeps the native objects it works on alive, whatever JS does to their handles
// meanwhile. The captures are destroyed on the JS thread and before any reaction to the promise runs: guards
// among them (one call at a time, an abort listener) have let go when the caller's `await` returns.
template <typename Run, typename Convert>
class PromiseWork final : public Napi::AsyncWorker {
 public:
  using Result = std::invoke_result_t<Run&>;

  PromiseWork(Napi::Env env, const char* name, Run run, Convert convert)
      : AsyncWorker(env, name),
        compute_threads_(addon_data(env).compute_threads),
        deferred_(env),
        stack_(env),
        run_(std::move(run)),
        convert_(std::move(convert)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    try {
      compute_threads_->run([this] { outcome_.template emplace<Result>(run_()); });
    } catch (...) {
      outcome_.template emplace<Failure>(current_failure());
    }
  }

  void OnOK() override {
    if (!can_run_js(Env())) return;
    try {
      settle();
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());
    } catch (...) {
      deferred_.Reject(to_js_error(Env(), current_failure()).Value());
    }
  }

 private:
  void settle() {
    if (const Failure* failure = std::get_if<Failure>(&outcome_)) {
      const Napi::Error error = to_js_error(Env(), *failure);
      stack_.graft_onto(error);
      deferred_.Reject(error.Value());
    } else {
      deferred_.Resolve(convert_(Env(), std::move(std::get<Result>(outcome_))));
    }
  }

  const std::shared_ptr<ComputeThreads> compute_threads_;
  Napi::Promise::Deferred deferred_;
  CallerStack stack_;
  Run run_;
  Convert convert_;
  std::variant<std::monostate, Result, Failure> outcome_;
};

// Queues the work; `name` is its type for async_hooks. The work owns itself until it has settled the promise.
template <typename Run, typename Convert>
Napi::Promise run_on_worker(Napi::Env env, const char* name, Run run, Convert convert) {
  auto work = std::make_unique<PromiseWork<Run, Convert>>(env, name, std::move(run), std::move(convert));
  const Napi::Promise promise = work->promise();
  work->Queue();
  static_cast<void>(work.release());
  return promise;
}

}  // namespace verbatim::addon
