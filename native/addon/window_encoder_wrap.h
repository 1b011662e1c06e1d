#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "recogniser_wrap.h"
#include "speech/recogniser.h"

namespace verbatim::addon {

// An encoder and its buffers, reported to V8; one call at a time.
struct HeldEncoder {
  HeldEncoder(Napi::Env env, std::shared_ptr<HeldRecogniser> of, std::unique_ptr<WindowEncoder> made, int of_threads)
      : model(std::move(of)), encoder(std::move(made)), threads(of_threads), memory(env, encoder->memory_bytes()) {}

  const std::shared_ptr<HeldRecogniser> model;
  const std::unique_ptr<WindowEncoder> encoder;
  // Of a unit that is given no other number.
  const int threads;
  bool busy = false;
  ExternalMemory memory;
};

// WindowEncoder of the contract.
class WindowEncoderWrap : public Handle<WindowEncoderWrap, HeldEncoder> {
 public:
  static constexpr const char* kName = "WindowEncoder";
  static constexpr napi_type_tag kTag = {0x67b0c9f25d1e4a83, 0xa4d83e71b05f62c9};
  static constexpr auto kConstructor = &AddonData::window_encoder;
  static std::vector<PropertyDescriptor> members();

  explicit WindowEncoderWrap(const Napi::CallbackInfo& info) : Handle(info) {}

 private:
  Napi::Value advance(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
