#include "audio_window_wrap.h"

namespace verbatim::addon {
namespace {

Napi::Array speech(Napi::Env env, const Window& window) {
  Napi::Array out = Napi::Array::New(env);
  const auto seconds = [&](std::size_t sample) {
    return window.start_seconds() + static_cast<double>(sample) / kSampleRate;
  };
  for (const SpeechSpan& span : window.speech) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("startSeconds", seconds(span.begin));
    entry.Set("endSeconds", seconds(span.end));
    out.Set(out.Length(), entry);
  }
  return out;
}

}  // namespace

std::vector<AudioWindowWrap::PropertyDescriptor> AudioWindowWrap::members() {
  return {closing_method("release")};
}

AudioWindowWrap::AudioWindowWrap(const Napi::CallbackInfo& info) : Handle(info) {
  const Window& window = state()->window;
  define_value("startSeconds", Napi::Number::New(info.Env(), window.start_seconds()));
  define_value("endSeconds", Napi::Number::New(info.Env(), window.end_seconds()));
  define_value("speech", speech(info.Env(), window));
}

}  // namespace verbatim::addon
