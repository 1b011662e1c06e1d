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

// Wall-clock time of one step of measure(): what a short clip may have to wait for when its turn comes.
constexpr double kMeasureBudgetSeconds = 0.02;

// What a call found, and how far it has come.
struct Measured {
  std::optional<double> duration_seconds;
  double measured_seconds = 0.0;
  double measured_samples = 0.0;
};

// Audio without signal that one call passes over at most: at hundreds of times real time, some 100 ms.
constexpr double kPatienceSeconds = 60;

struct Cut {
  std::optional<Window> window;
  double position_seconds = 0.0;
  bool at_end = false;
};

Measured measure_step(AudioReader& reader) {
  const std::optional<double> duration = reader.measure(kMeasureBudgetSeconds);
  return {duration, reader.measured_seconds(), reader.measured_samples()};
}

Cut cut_next(Segmenter& segmenter) {
  std::optional<Window> window = segmenter.next(kPatienceSeconds);
  return {std::move(window), static_cast<double>(segmenter.position()) / kSampleRate, segmenter.at_end()};
}

}  // namespace

std::vector<AudioReaderWrap::PropertyDescriptor> AudioReaderWrap::members() {
  return {InstanceMethod<&AudioReaderWrap::measure>("measure"),
          InstanceMethod<&AudioReaderWrap::next_window>("nextWindow"),
          InstanceAccessor<&AudioReaderWrap::measured_seconds>("measuredSeconds"),
          InstanceAccessor<&AudioReaderWrap::measured_samples>("measuredSamples"),
          InstanceAccessor<&AudioReaderWrap::position_seconds>("positionSeconds"),
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
        env, "verbatim.measure", [reader = Lease(state())] { return measure_step(reader->reader); },
        [progress = progress_](Napi::Env e, Measured measured) -> Napi::Value {
          progress->measured_seconds = measured.measured_seconds;
          progress->measured_samples = measured.measured_samples;
          if (!measured.duration_seconds) return e.Null();
          return Napi::Number::New(e, *measured.duration_seconds);
        });
  });
}

Napi::Value AudioReaderWrap::next_window(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.nextWindow", [reader = Lease(state())] { return cut_next(reader->segmenter); },
        [progress = progress_](Napi::Env e, Cut cut) -> Napi::Value {
          progress->position_seconds = cut.position_seconds;
          if (!cut.window) return cut.at_end ? e.Null() : Napi::Value(Napi::String::New(e, "silence"));
          return AudioWindowWrap::wrap(e, std::make_shared<HeldWindow>(e, std::move(*cut.window)));
        });
  });
}

Napi::Value AudioReaderWrap::measured_seconds(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->measured_seconds);
}

Napi::Value AudioReaderWrap::measured_samples(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->measured_samples);
}

Napi::Value AudioReaderWrap::position_seconds(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->position_seconds);
}

}  // namespace verbatim::addon
