#pragma once

#include <string>
#include <vector>

#include "napi_setup.h"
#include "translation/model.h"
#include "translation/options.h"
#include "translation/translator.h"

namespace verbatim::addon {

// Reads string[] of the contract. Throws a JS TypeError that names the argument.
std::vector<std::string> string_list(Napi::Value value, const std::string& name);

// Reads string[][] of the contract. Throws a JS TypeError that names the element.
std::vector<std::vector<std::string>> string_lists(Napi::Value value, const std::string& name);

// Reads TranslationInput[] of the contract. Throws a JS TypeError that names the property.
std::vector<translation::TranslationInput> translation_inputs(Napi::Value inputs);

// Reads TranslationOptions of the contract. Throws a JS TypeError that names the property.
translation::TranslationOptions translation_options(Napi::Value options);

Napi::Array to_js(Napi::Env env, const std::vector<std::string>& list);
Napi::Array to_js(Napi::Env env, const std::vector<std::vector<std::string>>& lists);

// Makes TranslationBatch of the contract.
Napi::Object to_js(Napi::Env env, const translation::TranslationBatch& batch);

// Makes TranslationModelInfo of the contract.
Napi::Object to_js(Napi::Env env, const translation::TranslationModelInfo& info);

}  // namespace verbatim::addon
