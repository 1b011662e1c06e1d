#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "audio/cutting/window.h"
#include "external_memory.h"
#include "handle.h"

namespace verbatim::addon {

// A window's samples, reported to V8.
struct HeldWindow {
  HeldWindow(Napi::Env env, Window cut)
      : window(std::move(cut)), memory(env, window.samples.capacity() * sizeof(float)) {}

  const Window window;
  ExternalMemory memory;
};

// AudioWindow of the contract. Samples never cross into JavaScript; this handle stands for them.
class AudioWindowWrap : public Handle<AudioWindowWrap, HeldWindow> {
 public:
  static constexpr const char* kName = "AudioWindow";
  static constexpr napi_type_tag kTag = {0x7d0c3f6ae1584b92, 0x94d6a7105bfe2c83};
  static constexpr auto kConstructor = &AddonData::audio_window;
  static std::vector<PropertyDescriptor> members();

  explicit AudioWindowWrap(const Napi::CallbackInfo& info);

  // createWindow(samples, startSample?): AudioWindow
  static Napi::Value create(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
