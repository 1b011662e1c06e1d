#include "voice_activity_model_wrap.h"

#include <filesystem>

#include "option_reader.h"
#include "promise_work.h"

namespace verbatim::addon {

std::vector<VoiceActivityModelWrap::PropertyDescriptor> VoiceActivityModelWrap::members() {
  return {closing_method("close")};
}

Napi::Value VoiceActivityModelWrap::load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path path = path_argument(info[0]);
    return run_on_worker(
        env, "verbatim.loadVoiceActivityModel", [path] { return SileroModel::load(path); },
        [](Napi::Env e, std::shared_ptr<const SileroModel> model) {
          return wrap(e, std::make_shared<HeldVoiceActivityModel>(e, std::move(model)));
        });
  });
}

}  // namespace verbatim::addon
