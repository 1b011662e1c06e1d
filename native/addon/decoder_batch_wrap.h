#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "external_memory.h"
#include "handle.h"
#include "recogniser_wrap.h"
#include "speech/recogniser.h"
#include "window_in_flight_wrap.h"

namespace verbatim::addon {

// A batch with its windows, and its buffers, reported to V8; one call at a time.
struct HeldBatch {
  struct Member {
    Napi::ObjectReference handle;
    std::shared_ptr<HeldInFlight> held;
  };

  HeldBatch(Napi::Env env, std::shared_ptr<HeldRecogniser> of, std::unique_ptr<DecoderBatch> made)
      : model(std::move(of)), batch(std::move(made)), memory(env, batch->memory_bytes()) {}
  ~HeldBatch();

  // Throws what DecoderBatch::add() throws.
  void add(Napi::Object handle, const std::shared_ptr<HeldInFlight>& held);
  // The handle of a window that has left the batch.
  Napi::Value take(Napi::Env env, const WindowInFlight& window);
  void abort_all() const;

  const std::shared_ptr<HeldRecogniser> model;
  // Keeps windows and handles alive while the batch works on them.
  std::unordered_map<const WindowInFlight*, Member> members;
  const std::unique_ptr<DecoderBatch> batch;
  bool busy = false;
  ExternalMemory memory;
};

// DecoderBatch of the contract.
class DecoderBatchWrap : public Handle<DecoderBatchWrap, HeldBatch> {
 public:
  static constexpr const char* kName = "DecoderBatch";
  static constexpr napi_type_tag kTag = {0x2d94f7c8a01b4e65, 0xc7025be98d4163fa};
  static constexpr auto kConstructor = &AddonData::decoder_batch;
  static std::vector<PropertyDescriptor> members();

  explicit DecoderBatchWrap(const Napi::CallbackInfo& info) : Handle(info) {}

 private:
  void add(const Napi::CallbackInfo& info);
  Napi::Value advance(const Napi::CallbackInfo& info);
  Napi::Value size(const Napi::CallbackInfo& info);
};

}  // namespace verbatim::addon
