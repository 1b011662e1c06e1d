#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "audio/cutting/segmenter.h"
#include "audio/reader.h"
#include "handle.h"
#include "voice_activity_model_wrap.h"

namespace verbatim::addon {

// An open file and the segmenter that cuts it; one call at a time.
struct OpenReader {
  // Reads headers only. Throws EngineError as AudioReader and Segmenter do. `voice_model` may be null.
  OpenReader(const std::filesystem::path& path, const WindowPolicy& policy,
             std::shared_ptr<HeldVoiceActivityModel> voice_model)
      : voice(std::move(voice_model)), reader(path), segmenter(reader, policy, voice ? voice->model.get() : nullptr) {}

  const std::shared_ptr<HeldVoiceActivityModel> voice;
  AudioReader reader;
  Segmenter segmenter;
  bool busy = false;
};

// AudioReader of the contract.
class AudioReaderWrap : public Handle<AudioReaderWrap, OpenReader> {
 public:
  static constexpr const char* kName = "AudioReader";
  static constexpr napi_type_tag kTag = {0x1b5e90c7f24d4a36, 0xa3c8e25f07914d6b};
  static constexpr auto kConstructor = &AddonData::audio_reader;
  static std::vector<PropertyDescriptor> members();

  explicit AudioReaderWrap(const Napi::CallbackInfo& info);

  // openAudio(path, policy, options?): Promise<AudioReader>
  static Napi::Value open(const Napi::CallbackInfo& info);

 private:
  Napi::Value measure(const Napi::CallbackInfo& info);
  Napi::Value next_window(const Napi::CallbackInfo& info);
  Napi::Value measured_seconds(const Napi::CallbackInfo& info);
  Napi::Value measured_samples(const Napi::CallbackInfo& info);
  Napi::Value position_seconds(const Napi::CallbackInfo& info);

  // Copies for the JS thread as of the last finished call; the engine's own values change while a call runs.
  struct Progress {
    double measured_seconds = 0.0;
    double measured_samples = 0.0;
    double position_seconds = 0.0;
  };
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

}  // namespace verbatim::addon
