#include "translation_model_wrap.h"

#include <filesystem>
#include <string>

#include "option_reader.h"
#include "promise_work.h"
#include "translation/backends/load.h"
#include "translation_conversion.h"
#include "translator_wrap.h"

namespace verbatim::addon {
namespace {

using translation::TranslationModel;
using translation::TranslationModelOptions;

TranslationModelOptions model_options(Napi::Value value) {
  const OptionReader reader(value, "options");
  TranslationModelOptions out;
  reader.required("device", out.device);
  reader.optional("computeType", out.compute_type);
  reader.optional("backend", out.backend);
  return out;
}

std::string token_argument(Napi::Value value) {
  if (!value.IsString()) throw argument_error(value.Env(), "token must be a string.");
  return value.As<Napi::String>();
}

}  // namespace

std::vector<TranslationModelWrap::PropertyDescriptor> TranslationModelWrap::members() {
  return {InstanceMethod<&TranslationModelWrap::create_translator>("createTranslator"),
          InstanceMethod<&TranslationModelWrap::tokenize>("tokenize"),
          InstanceMethod<&TranslationModelWrap::detokenize>("detokenize"),
          InstanceMethod<&TranslationModelWrap::has_source_token>("hasSourceToken"),
          InstanceMethod<&TranslationModelWrap::has_target_token>("hasTargetToken"),
          closing_method("close")};
}

TranslationModelWrap::TranslationModelWrap(const Napi::CallbackInfo& info) : Handle(info) {
  define_value("info", to_js(info.Env(), state()->model->info()));
}

Napi::Value TranslationModelWrap::load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path directory = path_argument(info[0]);
    const TranslationModelOptions options = model_options(info[1]);
    return run_on_worker(
        env, "verbatim.loadTranslationModel",
        [directory, options] { return translation::load_model(directory, options); },
        [](Napi::Env e, std::shared_ptr<const TranslationModel> model) {
          return wrap(e, std::make_shared<HeldTranslationModel>(e, std::move(model)));
        });
  });
}

Napi::Value TranslationModelWrap::create_translator(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    int threads = 0;
    OptionReader(info[0], "options").required("threads", threads);
    return run_on_worker(
        env, "verbatim.createTranslator", [held = state(), threads] { return held->model->create_translator(threads); },
        [held = state()](Napi::Env e, std::unique_ptr<translation::Translator> translator) {
          return TranslatorWrap::wrap(e, std::make_shared<HeldTranslator>(e, held, std::move(translator)));
        });
  });
}

Napi::Value TranslationModelWrap::tokenize(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.tokenize",
        [held = state(), texts = string_list(info[0], "texts")] {
          std::vector<std::vector<std::string>> tokens;
          tokens.reserve(texts.size());
          for (const std::string& text : texts) tokens.push_back(held->model->tokenize(text));
          return tokens;
        },
        [](Napi::Env e, const std::vector<std::vector<std::string>>& tokens) { return to_js(e, tokens); });
  });
}

Napi::Value TranslationModelWrap::detokenize(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.detokenize",
        [held = state(), lists = string_lists(info[0], "tokens")] {
          std::vector<std::string> texts;
          texts.reserve(lists.size());
          for (const std::vector<std::string>& tokens : lists) texts.push_back(held->model->detokenize(tokens));
          return texts;
        },
        [](Napi::Env e, const std::vector<std::string>& texts) { return to_js(e, texts); });
  });
}

Napi::Value TranslationModelWrap::has_source_token(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    return Napi::Boolean::New(info.Env(), state()->model->has_source_token(token_argument(info[0])));
  });
}

Napi::Value TranslationModelWrap::has_target_token(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    return Napi::Boolean::New(info.Env(), state()->model->has_target_token(token_argument(info[0])));
  });
}

}  // namespace verbatim::addon
