#include "slot_wrap.h"

#include "audio_window_wrap.h"
#include "call_abort.h"
#include "lease.h"
#include "promise_work.h"
#include "speech_conversion.h"

namespace verbatim::addon {

std::vector<SlotWrap::PropertyDescriptor> SlotWrap::members() {
  return {InstanceMethod<&SlotWrap::transcribe>("transcribe"), closing_method("close")};
}

Napi::Value SlotWrap::transcribe(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::shared_ptr<HeldWindow> held = AudioWindowWrap::from_js(info[0], "window")->state();
    const DecodeOptions options = decode_options(info[1]);
    CallAbort abort(env, info[2]);
    Lease slot(state());
    const auto convert = [held, shared = state()](Napi::Env e, const WindowResult& result) {
      // Beams and a longer context may have enlarged the state.
      shared->memory.resize(shared->slot->memory_bytes());
      shared->model->memory.resize(shared->model->model->memory_bytes());
      return to_js(e, result, held->window.time_line());
    };
    return run_on_worker(
        env, "verbatim.transcribe",
        [slot = std::move(slot), held, options, abort = std::move(abort)] {
          return slot->slot->transcribe(held->window, options, abort.flag());
        },
        convert);
  });
}

}  // namespace verbatim::addon
