#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "speech/slot_model.h"

namespace verbatim::addon {

// A model's weights, reported to V8; shared by the model's handle and its slots.
struct HeldModel {
  HeldModel(Napi::Env env, std::shared_ptr<const SlotModel> loaded)
      : model(std::move(loaded)), memory(env, model->info().memory_bytes) {}

  const std::shared_ptr<const SlotModel> model;
  ExternalMemory memory;
};

// SpeechModel of the contract.
class SpeechModelWrap : public Handle<SpeechModelWrap, HeldModel> {
 public:
  static constexpr const char* kName = "SpeechModel";
  static constexpr napi_type_tag kTag = {0xc46f12e8530d4b7a, 0x8e19d4a6b27c50f3};
  static constexpr auto kConstructor = &AddonData::speech_model;
  static std::vector<PropertyDescriptor> members();

  explicit SpeechModelWrap(const Napi::CallbackInfo& info);

  // loadSpeechModel(path, { device }): Promise<SpeechModel>
  static Napi::Value load(const Napi::CallbackInfo& info);

 private:
  Napi::Value create_slot(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
