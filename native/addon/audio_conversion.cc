#include "audio_conversion.h"

#include "option_reader.h"

namespace verbatim::addon {

WindowPolicy window_policy(Napi::Value policy) {
  const OptionReader reader(policy, "policy");
  WindowPolicy out;
  reader.required("maxSeconds", out.max_seconds);
  reader.required("cut", out.cut, {{"quietest", WindowPolicy::Cut::kQuietest}, {"pause", WindowPolicy::Cut::kPause}});
  reader.required("minPauseSeconds", out.min_pause_seconds);
  reader.required("searchSeconds", out.search_seconds);
  // The policy's ownLength does not affect cutting; it is passed in each window's DecodeOptions.
  bool own_length = false;
  reader.required("ownLength", own_length);
  return out;
}

Napi::Object to_js(Napi::Env env, const AudioInfo& info) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("container", info.container);
  out.Set("codec", info.codec);
  out.Set("sampleRate", info.sample_rate);
  out.Set("channels", info.channels);
  return out;
}

}  // namespace verbatim::addon
