#include "audio_window_wrap.h"

namespace verbatim::addon {

std::vector<AudioWindowWrap::PropertyDescriptor> AudioWindowWrap::members() {
  return {closing_method("release")};
}

AudioWindowWrap::AudioWindowWrap(const Napi::CallbackInfo& info) : Handle(info) {
  const Window& window = state()->window;
  define_value("startSeconds", Napi::Number::New(info.Env(), window.start_seconds()));
  define_value("endSeconds", Napi::Number::New(info.Env(), window.end_seconds()));
}

}  // namespace verbatim::addon
