#include <whisper.h>

#include <memory>
#include <string>

#include "addon_data.h"
#include "audio_reader_wrap.h"
#include "audio_window_wrap.h"
#include "decoder_batch_wrap.h"
#include "device.h"
#include "failure.h"
#include "live_audio_wrap.h"
#include "napi_setup.h"
#include "random_model.h"
#include "recogniser_wrap.h"
#include "sample_reader_wrap.h"
#include "slot_wrap.h"
#include "speech_model_wrap.h"
#include "translation/backends/load.h"
#include "translation_conversion.h"
#include "translation_model_wrap.h"
#include "translator_wrap.h"
#include "voice_activity_model_wrap.h"
#include "window_encoder_wrap.h"
#include "window_in_flight_wrap.h"

namespace verbatim::addon {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

Napi::Object build_info(Napi::Env env) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("whisper", whisper_version());
  out.Set("cuda", built_with_cuda());
  out.Set("vulkan", built_with_vulkan());
  out.Set("translationBackends", to_js(env, translation::backends()));
  out.Set("compiler", compiler());
  out.Set("contract", VERBATIM_CONTRACT);
#ifdef VERBATIM_WITHOUT_ONEDNN
  out.Set("withoutAccelerator", VERBATIM_WITHOUT_ONEDNN);
#endif
  return out;
}

// devices(): DeviceInfo[]
Napi::Value devices(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Array out = Napi::Array::New(env);
  try {
    for (const DeviceInfo& device : list_devices()) {
      Napi::Object entry = Napi::Object::New(env);
      entry.Set("id", device.id);
      entry.Set("type", std::string(device_type_name(device.type)));
      entry.Set("name", device.name);
      if (!device.driver.empty()) entry.Set("driver", device.driver);
      entry.Set("memoryBytes", static_cast<double>(device.memory_bytes));
      out.Set(out.Length(), entry);
    }
  } catch (const EngineError&) {
    throw to_js_error(env, current_failure());
  }
  return out;
}

// heldBytes(): number, for tests of what handles free
Napi::Value held_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(*addon_data(info.Env()).held_bytes));
}

}  // namespace

// Called once for every environment that loads the addon.
Napi::Object init(Napi::Env env, Napi::Object exports) {
  // The environment owns its data and deletes it last.
  env.SetInstanceData(std::make_unique<AddonData>(env).release());
  AudioReaderWrap::define(env);
  AudioWindowWrap::define(env);
  LiveAudioWrap::define(env);
  SampleReaderWrap::define(env);
  VoiceActivityModelWrap::define(env);
  SpeechModelWrap::define(env);
  SlotWrap::define(env);
  RecogniserWrap::define(env);
  WindowInFlightWrap::define(env);
  WindowEncoderWrap::define(env);
  DecoderBatchWrap::define(env);
  TranslationModelWrap::define(env);
  TranslatorWrap::define(env);
  exports.Set("build", build_info(env));
  exports.Set("devices", Napi::Function::New<devices>(env, "devices"));
  exports.Set("heldBytes", Napi::Function::New<held_bytes>(env, "heldBytes"));
  exports.Set("openAudio", Napi::Function::New<AudioReaderWrap::open>(env, "openAudio"));
  exports.Set("openSamples", Napi::Function::New<SampleReaderWrap::open>(env, "openSamples"));
  exports.Set("openLiveAudio", Napi::Function::New<LiveAudioWrap::open>(env, "openLiveAudio"));
  exports.Set("createWindow", Napi::Function::New<AudioWindowWrap::create>(env, "createWindow"));
  exports.Set("loadVoiceActivityModel",
              Napi::Function::New<VoiceActivityModelWrap::load>(env, "loadVoiceActivityModel"));
  exports.Set("loadSpeechModel", Napi::Function::New<SpeechModelWrap::load>(env, "loadSpeechModel"));
  exports.Set("loadRecogniser", Napi::Function::New<RecogniserWrap::load>(env, "loadRecogniser"));
  exports.Set("loadTranslationModel", Napi::Function::New<TranslationModelWrap::load>(env, "loadTranslationModel"));
  exports.Set("writeRandomModel", Napi::Function::New<write_random_model>(env, "writeRandomModel"));
  return exports;
}

NODE_API_MODULE(verbatim, init)

}  // namespace verbatim::addon
