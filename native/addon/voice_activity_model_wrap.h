#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "speech/silero/model.h"

namespace verbatim::addon {

// A voice activity model, reported to V8; shared by its handle and the readers that were opened with it.
struct HeldVoiceActivityModel {
  HeldVoiceActivityModel(Napi::Env env, std::shared_ptr<const SileroModel> loaded)
      : model(std::move(loaded)), memory(env, model->memory_bytes()) {}

  const std::shared_ptr<const SileroModel> model;
  ExternalMemory memory;
};

// VoiceActivityModel of the contract.
class VoiceActivityModelWrap : public Handle<VoiceActivityModelWrap, HeldVoiceActivityModel> {
 public:
  static constexpr const char* kName = "VoiceActivityModel";
  static constexpr napi_type_tag kTag = {0x2f91c5d08be64a73, 0xb74e03a9d16f582c};
  static constexpr auto kConstructor = &AddonData::voice_activity_model;
  static std::vector<PropertyDescriptor> members();

  explicit VoiceActivityModelWrap(const Napi::CallbackInfo& info) : Handle(info) {}

  // loadVoiceActivityModel(path): Promise<VoiceActivityModel>
  static Napi::Value load(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
