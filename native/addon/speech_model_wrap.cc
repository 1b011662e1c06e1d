#include "speech_model_wrap.h"

#include <filesystem>
#include <string>

#include "head_conversion.h"
#include "option_reader.h"
#include "promise_work.h"
#include "slot_wrap.h"
#include "speech/load_slot_model.h"
#include "speech_conversion.h"

namespace verbatim::addon {

std::vector<SpeechModelWrap::PropertyDescriptor> SpeechModelWrap::members() {
  return {InstanceMethod<&SpeechModelWrap::create_slot>("createSlot"), closing_method("close")};
}

SpeechModelWrap::SpeechModelWrap(const Napi::CallbackInfo& info) : Handle(info) {
  define_value("info", to_js(info.Env(), state()->model->info()));
}

Napi::Value SpeechModelWrap::load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path path = path_argument(info[0]);
    std::string device;
    AcceleratorMode accelerator = AcceleratorMode::kOff;
    std::string compute = "auto";
    const OptionReader options(info[1], "options");
    options.required("device", device);
    read_accelerator(options, accelerator);
    options.optional("compute", compute);
    const HeadSet heads = alignment_heads(info[1]);
    return run_on_worker(
        env, "verbatim.loadSpeechModel",
        [path, device, accelerator, compute, heads] {
          return load_slot_model(path, device, accelerator, compute, heads);
        },
        [](Napi::Env e, std::shared_ptr<const SlotModel> model) {
          return wrap(e, std::make_shared<HeldModel>(e, std::move(model)));
        });
  });
}

Napi::Value SpeechModelWrap::create_slot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    int threads = 0;
    OptionReader(info[0], "options").required("threads", threads);
    return run_on_worker(
        env, "verbatim.createSlot", [model = state(), threads] { return model->model->make_slot(threads); },
        [model = state()](Napi::Env e, std::unique_ptr<WindowSlot> slot) {
          return SlotWrap::wrap(e, std::make_shared<HeldSlot>(e, model, std::move(slot)));
        });
  });
}

}  // namespace verbatim::addon
