#include "audio_reader_wrap.h"

#include <memory>
#include <optional>
#include <utility>

#include "audio_conversion.h"
#include "audio_window_wrap.h"
#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"

namespace verbatim::addon {
namespace {

// Wall-clock time of one step of measure(): short enough that a long file shares the pool with others.
constexpr double kMeasureBudgetSeconds = 0.1;

struct Step {
  std::optional<Window> window;
  double position_seconds = 0.0;
};

Step next_step(OpenReader& reader) {
  std::optional<Window> window = reader.segmenter.next();
  return {std::move(window), static_cast<double>(reader.segmenter.position()) / kSampleRate};
}

}  // namespace

std::vector<AudioReaderWrap::PropertyDescriptor> AudioReaderWrap::members() {
  return {InstanceMethod<&AudioReaderWrap::measure>("measure"),
          InstanceMethod<&AudioReaderWrap::next_window>("nextWindow"),
          InstanceAccessor<&AudioReaderWrap::get_position_seconds>("positionSeconds"),
          closing_method("close")};
}

AudioReaderWrap::AudioReaderWrap(const Napi::CallbackInfo& info) : Handle(info) {
  define_value("info", to_js(info.Env(), state()->reader.info()));
}

Napi::Value AudioReaderWrap::open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path path = path_argument(info[0]);
    const WindowPolicy policy = window_policy(info[1]);
    return run_on_worker(
        env, "verbatim.openAudio", [path, policy] { return std::make_unique<OpenReader>(path, policy); },
        [](Napi::Env e, std::unique_ptr<OpenReader> reader) { return wrap(e, std::move(reader)); });
  });
}

Napi::Value AudioReaderWrap::measure(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.measure",
        [reader = Lease(state())] { return reader->reader.measure(kMeasureBudgetSeconds); },
        [](Napi::Env e, std::optional<double> seconds) {
          return seconds ? Napi::Value(Napi::Number::New(e, *seconds)) : Napi::Value(e.Null());
        });
  });
}

Napi::Value AudioReaderWrap::next_window(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.nextWindow", [reader = Lease(state())] { return next_step(*reader); },
        [position = position_seconds_](Napi::Env e, Step step) -> Napi::Value {
          *position = step.position_seconds;
          if (!step.window) return e.Null();
          return AudioWindowWrap::wrap(e, std::make_shared<HeldWindow>(e, std::move(*step.window)));
        });
  });
}

Napi::Value AudioReaderWrap::get_position_seconds(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), *position_seconds_);
}

}  // namespace verbatim::addon
