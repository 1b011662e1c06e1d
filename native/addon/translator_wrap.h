#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "translation/translator.h"
#include "translation_model_wrap.h"

namespace verbatim::addon {

// A translator and its buffers, reported to V8; one call at a time.
struct HeldTranslator {
  HeldTranslator(Napi::Env env, std::shared_ptr<HeldTranslationModel> of, std::unique_ptr<translation::Translator> made)
      : model(std::move(of)), translator(std::move(made)), memory(env, translator->memory_bytes()) {}

  const std::shared_ptr<HeldTranslationModel> model;
  const std::unique_ptr<translation::Translator> translator;
  bool busy = false;
  ExternalMemory memory;
};

// Translator of the contract.
class TranslatorWrap : public Handle<TranslatorWrap, HeldTranslator> {
 public:
  static constexpr const char* kName = "Translator";
  static constexpr napi_type_tag kTag = {0x90d37e1fb5824ac6, 0xe86b05f4c2917d3a};
  static constexpr auto kConstructor = &AddonData::translator;
  static std::vector<PropertyDescriptor> members();

  explicit TranslatorWrap(const Napi::CallbackInfo& info) : Handle(info) {}

 private:
  Napi::Value translate(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
