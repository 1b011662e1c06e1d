#include "audio_window_wrap.h"

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

}  // namespace

std::vector<AudioWindowWrap::PropertyDescriptor> AudioWindowWrap::members() { return {closing_method("release")}; }

AudioWindowWrap::AudioWindowWrap(const Napi::CallbackInfo& info) : Handle(info) {
  const Window& window = state()->window;
  define_value("startSeconds", Napi::Number::New(info.Env(), window.start_seconds()));
  define_value("endSeconds", Napi::Number::New(info.Env(), window.end_seconds()));
  define_value("pieces", spans_to_js(info.Env(), window, pieces(window)));
  define_value("speech", spans_to_js(info.Env(), window, window.speech));
}

}  // namespace verbatim::addon
