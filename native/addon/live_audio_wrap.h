#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "audio/live/live_audio.h"
#include "external_memory.h"
#include "handle.h"
#include "voice_activity_model_wrap.h"

namespace verbatim::addon {

// A live signal, reported to V8; one call at a time.
struct OpenLiveAudio {
  // Throws EngineError as LiveAudio does. `voice` may be null.
  OpenLiveAudio(Napi::Env env, const SampleFormat& format, const LiveOptions& rules,
                std::shared_ptr<HeldVoiceActivityModel> voice)
      : options(rules),
        voice_model(std::move(voice)),
        audio(format, rules, voice_model ? voice_model->model.get() : nullptr),
        memory(env, audio.memory_bytes()) {}

  LiveOptions options;
  const std::shared_ptr<HeldVoiceActivityModel> voice_model;
  LiveAudio audio;
  ExternalMemory memory;
  bool busy = false;
};

// LiveAudio of the contract.
class LiveAudioWrap : public Handle<LiveAudioWrap, OpenLiveAudio> {
 public:
  static constexpr const char* kName = "LiveAudio";
  static constexpr napi_type_tag kTag = {0x5be2074d91a84c3f, 0x8c60f3d27e1ba594};
  static constexpr auto kConstructor = &AddonData::live_audio;
  static std::vector<PropertyDescriptor> members();

  explicit LiveAudioWrap(const Napi::CallbackInfo& info);

  // openLiveAudio(options): LiveAudio
  static Napi::Value open(const Napi::CallbackInfo& info);

 private:
  Napi::Value push(const Napi::CallbackInfo& info);
  Napi::Value push_now(const Napi::CallbackInfo& info);
  Napi::Value end_utterance(const Napi::CallbackInfo& info);
  Napi::Value clear(const Napi::CallbackInfo& info);
  Napi::Value configure(const Napi::CallbackInfo& info);
  Napi::Value samples(const Napi::CallbackInfo& info);
  Napi::Value discard_before(const Napi::CallbackInfo& info);
  Napi::Value position(const Napi::CallbackInfo& info);
  Napi::Value utterance_begin(const Napi::CallbackInfo& info);
  Napi::Value kept_from(const Napi::CallbackInfo& info);
  Napi::Value memory_bytes(const Napi::CallbackInfo& info);

  // Copies for the JS thread as of the last finished call; the engine's own values change while a call runs.
  struct Progress {
    void update(OpenLiveAudio& live);

    double position = 0;
    std::optional<std::int64_t> utterance_begin;
    double kept_from = 0;
    double memory_bytes = 0;
  };
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

}  // namespace verbatim::addon
