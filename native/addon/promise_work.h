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

// False once the environment is ending: nobody waits for a result then, and most of Node-API fails.
bool can_run_js(Napi::Env env);

Napi::Promise rejected(const Napi::Error& error);

// Runs the JS-thread part of a call that returns a promise: it checks arguments and collects what the work needs. An
// exception becomes a rejection, as in an async function.
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

// The only bridge from a blocking call to a promise. A libuv worker thread waits while one of the environment's compute
// threads executes `run()`, which returns a value and must not use Node-API. `convert(env, value)` then makes the
// JavaScript value on the JS thread. An exception in `run` is caught on its thread, becomes a value, and rejects the
// promise with the caller's stack.
//
// The captures of `run` keep its native objects alive, whatever JS does to their handles. They are destroyed on the JS
// thread before any reaction to the promise runs. So guards among them (one call at a time, an abort listener) are
// released when the caller's `await` returns.
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

// Queues the work. `name`: its type for async_hooks. The work owns itself until it has settled the promise.
template <typename Run, typename Convert>
Napi::Promise run_on_worker(Napi::Env env, const char* name, Run run, Convert convert) {
  auto work = std::make_unique<PromiseWork<Run, Convert>>(env, name, std::move(run), std::move(convert));
  const Napi::Promise promise = work->promise();
  work->Queue();
  static_cast<void>(work.release());
  return promise;
}

}  // namespace verbatim::addon
