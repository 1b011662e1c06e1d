#include "window_encoder_wrap.h"

#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"
#include "thread_count.h"
#include "window_in_flight_wrap.h"

namespace verbatim::addon {
namespace {

// Marks a window as used by an encoder, as long as this lives.
class Encoding {
 public:
  explicit Encoding(std::shared_ptr<HeldInFlight> held) : held_(std::move(held)) {
    require_at_rest(*held_, WindowStage::kEncode);
    held_->place = HeldInFlight::Place::kInEncoder;
  }
  ~Encoding() {
    if (held_) held_->place = HeldInFlight::Place::kAtRest;
  }
  Encoding(Encoding&&) noexcept = default;
  Encoding& operator=(Encoding&&) = delete;

  WindowInFlight& window() const noexcept { return *held_->window; }

 private:
  std::shared_ptr<HeldInFlight> held_;
};

}  // namespace

std::vector<WindowEncoderWrap::PropertyDescriptor> WindowEncoderWrap::members() {
  return {InstanceMethod<&WindowEncoderWrap::advance>("advance"), closing_method("close")};
}

Napi::Value WindowEncoderWrap::advance(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::shared_ptr<HeldInFlight> held = WindowInFlightWrap::from_js(info[0], "window")->state();
    int threads = state()->threads;
    if (!info[1].IsUndefined()) OptionReader(info[1], "options").optional("threads", threads);
    require_thread_count(threads);
    Lease encoder(state());
    Encoding encoding(held);
    const auto convert = [held, shared = state()](Napi::Env e, WindowStage stage) {
      held->memory.resize(held->window->memory_bytes());
      shared->memory.resize(shared->encoder->memory_bytes());
      return to_js(e, stage);
    };
    return run_on_worker(
        env, "verbatim.encode",
        [encoder = std::move(encoder), encoding = std::move(encoding), threads] {
          encoder->encoder->set_threads(threads);
          encoder->encoder->advance(encoding.window());
          const WindowStage stage = encoding.window().stage();
          // An encoder at rest keeps the working memory of its own threads only.
          if (stage != WindowStage::kEncode) encoder->encoder->set_threads(encoder->threads);
          return stage;
        },
        convert);
  });
}

}  // namespace verbatim::addon
