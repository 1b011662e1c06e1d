#include "translation_conversion.h"

#include "failure.h"
#include "option_reader.h"

namespace verbatim::addon {
namespace {

using translation::TranslationHypothesis;

std::string element(const std::string& name, std::uint32_t index) { return name + "[" + std::to_string(index) + "]"; }

Napi::Array array_argument(Napi::Value value, const std::string& name, const char* of) {
  if (value.IsArray()) return value.As<Napi::Array>();
  throw argument_error(value.Env(), name + " must be an array of " + of + ".");
}

template <typename T, typename Convert>
Napi::Array array_to_js(Napi::Env env, const std::vector<T>& items, Convert convert) {
  Napi::Array out = Napi::Array::New(env, items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) out.Set(i, convert(items[i]));
  return out;
}

Napi::Object hypothesis_to_js(Napi::Env env, const TranslationHypothesis& hypothesis) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("tokens", to_js(env, hypothesis.tokens));
  out.Set("score", hypothesis.score);
  return out;
}

Napi::Object timings_to_js(Napi::Env env, const translation::TranslationTimings& timings) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("encodeMs", timings.encode_ms);
  out.Set("totalMs", timings.total_ms);
  out.Set("tokensIn", static_cast<double>(timings.tokens_in));
  out.Set("tokensOut", static_cast<double>(timings.tokens_out));
  return out;
}

}  // namespace

std::vector<std::string> string_list(Napi::Value value, const std::string& name) {
  const Napi::Array array = array_argument(value, name, "strings");
  std::vector<std::string> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value item = array.Get(i);
    if (!item.IsString()) throw argument_error(value.Env(), element(name, i) + " must be a string.");
    out.push_back(item.As<Napi::String>());
  }
  return out;
}

std::vector<std::vector<std::string>> string_lists(Napi::Value value, const std::string& name) {
  const Napi::Array array = array_argument(value, name, "arrays of strings");
  std::vector<std::vector<std::string>> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::HandleScope scope(value.Env());
    out.push_back(string_list(array.Get(i), element(name, i)));
  }
  return out;
}

std::vector<translation::TranslationInput> translation_inputs(Napi::Value inputs) {
  const Napi::Array array = array_argument(inputs, "inputs", "objects like { source }");
  std::vector<translation::TranslationInput> out;
  out.reserve(array.Length());
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::HandleScope scope(inputs.Env());
    const std::string name = element("inputs", i);
    const Napi::Value item = array.Get(i);
    if (!item.IsObject()) throw argument_error(inputs.Env(), name + " must be an object like { source }.");
    const Napi::Object object = item.As<Napi::Object>();
    translation::TranslationInput input;
    input.source = string_list(object.Get("source"), name + ".source");
    const Napi::Value prefix = object.Get("targetPrefix");
    if (!prefix.IsUndefined()) input.target_prefix = string_list(prefix, name + ".targetPrefix");
    out.push_back(std::move(input));
  }
  return out;
}

translation::TranslationOptions translation_options(Napi::Value options) {
  const OptionReader reader(options, "options");
  translation::TranslationOptions out;
  reader.optional("beamSize", out.beam_size);
  reader.optional("hypotheses", out.num_hypotheses);
  reader.optional("patience", out.patience);
  reader.optional("lengthPenalty", out.length_penalty);
  reader.optional("coveragePenalty", out.coverage_penalty);
  reader.optional("repetitionPenalty", out.repetition_penalty);
  reader.optional("noRepeatNgramSize", out.no_repeat_ngram_size);
  reader.optional("disableUnk", out.disable_unk);
  reader.optional("replaceUnknowns", out.replace_unknowns);
  reader.optional("maxInputLength", out.max_input_length);
  reader.optional("maxDecodingLength", out.max_decoding_length);
  reader.optional("minDecodingLength", out.min_decoding_length);
  reader.optional("maxBatchSize", out.max_batch_size);
  return out;
}

Napi::Array to_js(Napi::Env env, const std::vector<std::string>& list) {
  return array_to_js(env, list, [&](const std::string& text) { return Napi::String::New(env, text); });
}

Napi::Array to_js(Napi::Env env, const std::vector<std::vector<std::string>>& lists) {
  return array_to_js(env, lists, [&](const std::vector<std::string>& list) { return to_js(env, list); });
}

Napi::Object to_js(Napi::Env env, const translation::TranslationBatch& batch) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("results", array_to_js(env, batch.results, [&](const std::vector<TranslationHypothesis>& best) {
            return array_to_js(env, best, [&](const TranslationHypothesis& one) { return hypothesis_to_js(env, one); });
          }));
  out.Set("timings", timings_to_js(env, batch.timings));
  return out;
}

Napi::Object to_js(Napi::Env env, const translation::TranslationModelInfo& info) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("backend", info.backend);
  out.Set("device", info.device);
  out.Set("computeType", info.compute_type);
  out.Set("memoryBytes", static_cast<double>(info.memory_bytes));
  out.Set("sourceVocabulary", static_cast<double>(info.source_vocabulary));
  out.Set("targetVocabulary", static_cast<double>(info.target_vocabulary));
  out.Set("unkToken", info.unk_token);
  out.Set("bosToken", info.bos_token);
  out.Set("eosToken", info.eos_token);
  const auto& start = info.decoder_start_token;
  out.Set("decoderStartToken", start ? Napi::Value(Napi::String::New(env, *start)) : env.Null());
  out.Set("addsSourceBos", info.add_source_bos);
  out.Set("addsSourceEos", info.add_source_eos);
  out.Set("wantsSourceEos", info.wants_source_eos);
  out.Set("hasTokenizer", info.has_tokenizer);
  out.Set("maxSourceTokens", static_cast<double>(info.max_source_tokens));
  out.Set("maxTargetTokens", static_cast<double>(info.max_target_tokens));
  return out;
}

}  // namespace verbatim::addon
