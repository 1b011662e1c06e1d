#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "translation/model.h"

namespace verbatim::addon {

// A translation model's weights, reported to V8; shared by the model's handle and its translators.
struct HeldTranslationModel {
  HeldTranslationModel(Napi::Env env, std::shared_ptr<const translation::TranslationModel> loaded)
      : model(std::move(loaded)), memory(env, model->info().memory_bytes) {}

  const std::shared_ptr<const translation::TranslationModel> model;
  ExternalMemory memory;
};

// TranslationModel of the contract.
class TranslationModelWrap : public Handle<TranslationModelWrap, HeldTranslationModel> {
 public:
  static constexpr const char* kName = "TranslationModel";
  static constexpr napi_type_tag kTag = {0x2f8a51c6d07b4e93, 0xb14c7de9026a5f38};
  static constexpr auto kConstructor = &AddonData::translation_model;
  static std::vector<PropertyDescriptor> members();

  explicit TranslationModelWrap(const Napi::CallbackInfo& info);

  // loadTranslationModel(directory, options): Promise<TranslationModel>
  static Napi::Value load(const Napi::CallbackInfo& info);

 private:
  Napi::Value create_translator(const Napi::CallbackInfo& info);
  Napi::Value tokenize(const Napi::CallbackInfo& info);
  Napi::Value detokenize(const Napi::CallbackInfo& info);
  Napi::Value has_source_token(const Napi::CallbackInfo& info);
  Napi::Value has_target_token(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
