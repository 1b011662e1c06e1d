#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "speech/slot_model.h"
#include "speech_model_wrap.h"

namespace verbatim::addon {

// A slot and its state's memory, reported to V8; one call at a time.
struct HeldSlot {
  HeldSlot(Napi::Env env, std::shared_ptr<HeldModel> of, std::unique_ptr<WindowSlot> made)
      : model(std::move(of)), slot(std::move(made)), memory(env, slot->memory_bytes()) {}

  const std::shared_ptr<HeldModel> model;
  const std::unique_ptr<WindowSlot> slot;
  bool busy = false;
  ExternalMemory memory;
};

// Slot of the contract.
class SlotWrap : public Handle<SlotWrap, HeldSlot> {
 public:
  static constexpr const char* kName = "Slot";
  static constexpr napi_type_tag kTag = {0x5ae7b09d41c84f16, 0xb6250fd39e7a418c};
  static constexpr auto kConstructor = &AddonData::slot;
  static std::vector<PropertyDescriptor> members();

  explicit SlotWrap(const Napi::CallbackInfo& info) : Handle(info) {}

 private:
  Napi::Value transcribe(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
