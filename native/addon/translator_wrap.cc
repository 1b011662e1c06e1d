#include "translator_wrap.h"

#include "call_abort.h"
#include "lease.h"
#include "promise_work.h"
#include "translation_conversion.h"

namespace verbatim::addon {

std::vector<TranslatorWrap::PropertyDescriptor> TranslatorWrap::members() {
  return {InstanceMethod<&TranslatorWrap::translate>("translate"), closing_method("close")};
}

Napi::Value TranslatorWrap::translate(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    auto inputs = translation_inputs(info[0]);
    const translation::TranslationOptions options = translation_options(info[1]);
    CallAbort abort(env, info[2]);
    Lease held(state());
    const auto convert = [shared = state()](Napi::Env e, const translation::TranslationBatch& batch) {
      // A larger batch than before has enlarged the buffers.
      shared->memory.resize(shared->translator->memory_bytes());
      return to_js(e, batch);
    };
    return run_on_worker(
        env, "verbatim.translate",
        [held = std::move(held), inputs = std::move(inputs), options, abort = std::move(abort)] {
          return held->translator->translate(inputs, options, abort.flag());
        },
        convert);
  });
}

}  // namespace verbatim::addon
