#include "teardown_watch.h"

#include <chrono>
#include <utility>

#include "promise_work.h"

namespace verbatim::addon {
namespace {

// How late the end is noticed at most; ten wake-ups a second cost nothing beside inference.
constexpr std::chrono::milliseconds kInterval(100);

}  // namespace

TeardownWatch::TeardownWatch(Napi::Env env, std::function<void()> on_teardown)
    : on_teardown_(std::move(on_teardown)) {
  // The function dies with the environment, before the addon's data: knocking on it must have ended by then.
  door_ = Door::New(env, "verbatim.teardownWatch", 1, 1, this,
                    [](Napi::Env, void*, TeardownWatch* watch) { watch->stop_knocking(); });
  // It must not keep the process alive.
  door_.Unref(env);
}

TeardownWatch::~TeardownWatch() { stop_knocking(); }

void TeardownWatch::set_active(bool active) {
  if (closed_) return;
  {
    const std::scoped_lock lock(mutex_);
    active_ = active;
  }
  wake_.notify_all();
  if (active && !thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { knock(stop); });
  }
}

void TeardownWatch::knock(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return active_; })) {
    door_.NonBlockingCall();
    wake_.wait_for(lock, stop, kInterval, [this] { return !active_; });
  }
}

void TeardownWatch::answer(Napi::Env env, Napi::Function, TeardownWatch* watch, void*) {
  // Without an environment the function itself is being closed.
  if (static_cast<napi_env>(env) == nullptr || !can_run_js(env)) watch->on_teardown_();
}

void TeardownWatch::stop_knocking() {
  closed_ = true;
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace verbatim::addon
