#include "audio_reader_wrap.h"

#include <memory>
#include <optional>
#include <utility>

#include "audio/cutting/voice_tracker.h"
#include "audio_conversion.h"
#include "audio_window_wrap.h"
#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"
#include "voice_activity_model_wrap.h"

namespace verbatim::addon {
namespace {

// Wall-clock time of one step of measure(), which a short clip may have to wait for.
constexpr double kMeasureBudgetSeconds = 0.02;

// The result of one call, and the reader's progress after it.
struct Measured {
  std::optional<double> duration_seconds;
  double measured_seconds = 0.0;
  double measured_samples = 0.0;
};

// Limits of one call: the silence that it passes over and the audio that it reads, which includes a window. Takes some
// 100 ms at hundreds of times real time.
constexpr Effort kEffort{.silence_seconds = 60, .read_seconds = 120};
// Limits with a voice activity model: one block of the model, which takes some 20 ms.
constexpr Effort kVoiceEffort{.silence_seconds = 60, .read_seconds = VoiceTracker::kBlockSeconds};

struct Cut {
  std::optional<Window> window;
  // True if there is no window: silence was passed over, or the file is at its end.
  bool passed_silence = false;
  bool at_end = false;
  double position_seconds = 0.0;
};

Measured measure_step(AudioReader& reader) {
  const std::optional<double> duration = reader.measure(kMeasureBudgetSeconds);
  return {duration, reader.measured_seconds(), reader.measured_samples()};
}

Cut cut_next(OpenReader& reader) {
  Segmenter& segmenter = reader.segmenter;
  const std::int64_t before = segmenter.position();
  std::optional<Window> window = segmenter.next(reader.voice ? kVoiceEffort : kEffort);
  const std::int64_t position = segmenter.position();
  return {std::move(window), position > before, segmenter.at_end(), static_cast<double>(position) / kSampleRate};
}

Napi::Value to_js(Napi::Env env, Cut cut) {
  if (cut.window) return AudioWindowWrap::wrap(env, std::make_shared<HeldWindow>(env, std::move(*cut.window)));
  if (cut.at_end) return env.Null();
  return Napi::String::New(env, cut.passed_silence ? "silence" : "reading");
}

// Null if the options name none.
std::shared_ptr<HeldVoiceActivityModel> voice_of(Napi::Value options) {
  if (options.IsUndefined()) return nullptr;
  if (!options.IsObject()) throw argument_error(options.Env(), "options must be an object like { voice }.");
  const Napi::Value voice = options.As<Napi::Object>().Get("voice");
  if (voice.IsUndefined()) return nullptr;
  return VoiceActivityModelWrap::from_js(voice, "options.voice")->state();
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
        env, "verbatim.openAudio",
        [path, policy, voice = voice_of(info[2])] { return std::make_unique<OpenReader>(path, policy, voice); },
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
        env, "verbatim.nextWindow", [reader = Lease(state())] { return cut_next(*reader); },
        [progress = progress_](Napi::Env e, Cut cut) -> Napi::Value {
          progress->position_seconds = cut.position_seconds;
          return to_js(e, std::move(cut));
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
