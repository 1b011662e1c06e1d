#include "decoder_batch_wrap.h"

#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"
#include "thread_count.h"

namespace verbatim::addon {
namespace {

// A running call; aborted when the environment ends. Its end frees the batch for the next call.
class Advancing {
 public:
  Advancing(Napi::Env env, std::shared_ptr<HeldBatch> held) : env_(env), held_(std::move(held)), lease_(held_) {
    addon_data(env).running_calls.add(held_.get(), [batch = held_.get()] { batch->abort_all(); });
  }
  ~Advancing() {
    if (!held_) return;  // moved from
    addon_data(Napi::Env(env_)).running_calls.remove(held_.get());
  }
  Advancing(Advancing&&) noexcept = default;
  Advancing& operator=(Advancing&&) = delete;

  BatchAdvance run(int steps, int threads) const { return held_->batch->advance(steps, threads); }

 private:
  napi_env env_;
  std::shared_ptr<HeldBatch> held_;
  Lease<HeldBatch> lease_;
};

}  // namespace

HeldBatch::~HeldBatch() {
  for (const auto& [window, member] : members) member.held->place = HeldInFlight::Place::kAtRest;
}

void HeldBatch::add(Napi::Object handle, const std::shared_ptr<HeldInFlight>& held) {
  require_at_rest(*held, WindowStage::kDecode);
  const auto [place, added] = members.try_emplace(held->window.get(), Member{Napi::Persistent(handle), held});
  try {
    batch->add(held->window);
  } catch (...) {
    members.erase(place);
    throw;
  }
  held->place = HeldInFlight::Place::kInBatch;
}

Napi::Value HeldBatch::take(Napi::Env env, const WindowInFlight& window) {
  const auto found = members.find(&window);
  if (found == members.end()) {
    throw EngineError(ErrorCode::kInternalError, "The batch gave back a window that it did not have.");
  }
  HeldInFlight& held = *found->second.held;
  held.place = HeldInFlight::Place::kAtRest;
  held.memory.resize(held.window->memory_bytes());
  const Napi::Value handle = found->second.handle.Value();
  members.erase(found);
  return handle.IsEmpty() ? env.Undefined() : handle;
}

void HeldBatch::abort_all() const {
  for (const auto& [window, member] : members) member.held->window->abort();
}

std::vector<DecoderBatchWrap::PropertyDescriptor> DecoderBatchWrap::members() {
  return {InstanceMethod<&DecoderBatchWrap::add>("add"), InstanceMethod<&DecoderBatchWrap::advance>("advance"),
          InstanceAccessor<&DecoderBatchWrap::size>("size", napi_enumerable), closing_method("close")};
}

void DecoderBatchWrap::add(const Napi::CallbackInfo& info) {
  static_cast<void>(value_from(info.Env(), [&] {
    WindowInFlightWrap* window = WindowInFlightWrap::from_js(info[0], "window");
    state()->add(window->Value(), window->state());
    return info.Env().Undefined();
  }));
}

Napi::Value DecoderBatchWrap::advance(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    int steps = 0;
    int threads = 0;
    const OptionReader options(info[0], "options");
    options.required("steps", steps);
    options.required("threads", threads);
    require_option(steps >= 1, "steps", steps, "1 or more");
    require_thread_count(threads);
    Advancing advancing(env, state());
    const auto convert = [shared = state()](Napi::Env e, const BatchAdvance& done) {
      Napi::Array left = Napi::Array::New(e, done.left.size());
      for (std::uint32_t i = 0; i < left.Length(); ++i) left.Set(i, shared->take(e, *done.left[i]));
      shared->memory.resize(shared->batch->memory_bytes());
      Napi::Object out = Napi::Object::New(e);
      out.Set("left", left);
      out.Set("steps", done.steps);
      out.Set("rows", done.rows);
      return out;
    };
    return run_on_worker(
        env, "verbatim.decode",
        [advancing = std::move(advancing), steps, threads] { return advancing.run(steps, threads); }, convert);
  });
}

Napi::Value DecoderBatchWrap::size(const Napi::CallbackInfo& info) {
  return value_from(info.Env(),
                    [&] { return Napi::Number::New(info.Env(), static_cast<double>(state()->members.size())); });
}

}  // namespace verbatim::addon
