#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "napi_setup.h"

namespace verbatim::addon {

// Notices that an environment is being torn down while work is still running. Node.js has no hook for that:
// on Worker.terminate() it first waits for running work and only then calls cleanup hooks. But it turns the
// event loop while it waits, so a thread that knocks there now and then gets an answer, and an answer that
// cannot run JavaScript means the end. Knocks only while active; the thread is made on first use.
class TeardownWatch {
 public:
  // `on_teardown` is called on the JS thread and must not touch JavaScript.
  TeardownWatch(Napi::Env env, std::function<void()> on_teardown);
  ~TeardownWatch();
  TeardownWatch(const TeardownWatch&) = delete;
  TeardownWatch& operator=(const TeardownWatch&) = delete;

  // JS thread only.
  void set_active(bool active);

 private:
  static void answer(Napi::Env env, Napi::Function, TeardownWatch* watch, void*);
  using Door = Napi::TypedThreadSafeFunction<TeardownWatch, void, answer>;

  void knock(const std::stop_token& stop);
  void stop_knocking();

  Door door_;
  std::function<void()> on_teardown_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool active_ = false;
  bool closed_ = false;
  std::jthread thread_;
};

}  // namespace verbatim::addon
