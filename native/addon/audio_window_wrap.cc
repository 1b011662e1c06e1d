#include "audio_window_wrap.h"

#include <cmath>
#include <string>
#include <utility>

#include "option_reader.h"

namespace verbatim::addon {
namespace {

// Converts spans of a window's samples to the file's time line.
Napi::Array spans_to_js(Napi::Env env, const Window& window, const std::vector<SpeechSpan>& spans) {
  Napi::Array out = Napi::Array::New(env);
  const TimeLine time_line = window.time_line();
  for (const SpeechSpan& span : spans) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("startSeconds", time_line.of_start(static_cast<double>(span.begin) / kSampleRate));
    entry.Set("endSeconds", time_line.of_end(static_cast<double>(span.end) / kSampleRate));
    out.Set(out.Length(), entry);
  }
  return out;
}

// The parts between the places where silence was left out.
std::vector<SpeechSpan> pieces(const Window& window) {
  std::vector<SpeechSpan> found;
  std::size_t begin = 0;
  for (const Skip& skip : window.skips) {
    found.push_back({begin, skip.at});
    begin = skip.at;
  }
  found.push_back({begin, window.samples.size()});
  return found;
}

// The longest window of any model.
constexpr std::size_t kMostSamples = 30 * kSampleRate;

std::vector<float> samples_argument(Napi::Value value) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    throw argument_error(value.Env(), "samples must be a Float32Array.");
  }
  const auto array = value.As<Napi::Float32Array>();
  const std::size_t count = array.ElementLength();
  if (count < 1 || count > kMostSamples) {
    throw EngineError(ErrorCode::kInvalidArgument, "samples has " + std::to_string(count) + " values; 1 to " +
                                                       std::to_string(kMostSamples) + " (30 seconds) are allowed");
  }
  std::vector<float> samples(array.Data(), array.Data() + count);
  for (float& sample : samples) {
    if (!std::isfinite(sample)) sample = 0;
  }
  return samples;
}

}  // namespace

std::vector<AudioWindowWrap::PropertyDescriptor> AudioWindowWrap::members() { return {closing_method("release")}; }

AudioWindowWrap::AudioWindowWrap(const Napi::CallbackInfo& info) : Handle(info) {
  const Window& window = state()->window;
  define_value("startSeconds", Napi::Number::New(info.Env(), window.start_seconds()));
  define_value("endSeconds", Napi::Number::New(info.Env(), window.end_seconds()));
  define_value("pieces", spans_to_js(info.Env(), window, pieces(window)));
  define_value("speech", spans_to_js(info.Env(), window, window.speech));
}

Napi::Value AudioWindowWrap::create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return value_from(env, [&] {
    Window window{.samples = samples_argument(info[0])};
    if (!info[1].IsUndefined()) window.start_sample = sample_position(info[1], "startSample");
    return wrap(env, std::make_shared<HeldWindow>(env, std::move(window)));
  });
}

}  // namespace verbatim::addon
