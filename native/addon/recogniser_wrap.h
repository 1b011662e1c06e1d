#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "speech/recogniser.h"

namespace verbatim::addon {

// A model's weights, reported to V8; shared by the model's handle and everything made from it.
struct HeldRecogniser {
  HeldRecogniser(Napi::Env env, std::shared_ptr<const Recogniser> loaded)
      : model(std::move(loaded)), memory(env, model->info().memory_bytes) {}

  const std::shared_ptr<const Recogniser> model;
  ExternalMemory memory;
};

// Recogniser of the contract.
class RecogniserWrap : public Handle<RecogniserWrap, HeldRecogniser> {
 public:
  static constexpr const char* kName = "Recogniser";
  static constexpr napi_type_tag kTag = {0x3c51f0a7d94e4b28, 0x9a7be2164fd30c85};
  static constexpr auto kConstructor = &AddonData::recogniser;
  static std::vector<PropertyDescriptor> members();

  explicit RecogniserWrap(const Napi::CallbackInfo& info);

  // loadRecogniser(path, { device, accelerator, compute, alignmentHeads }): Promise<Recogniser>
  static Napi::Value load(const Napi::CallbackInfo& info);

 private:
  Napi::Value open_window(const Napi::CallbackInfo& info);
  Napi::Value create_encoder(const Napi::CallbackInfo& info);
  Napi::Value create_batch(const Napi::CallbackInfo& info);
  Napi::Value align_text(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
