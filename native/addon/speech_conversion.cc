#include "speech_conversion.h"

#include <string>
#include <vector>

namespace verbatim::addon {
namespace {

template <typename T, typename Convert>
Napi::Array to_array(Napi::Env env, const std::vector<T>& items, Convert convert) {
  Napi::Array out = Napi::Array::New(env, items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) out.Set(i, convert(items[i]));
  return out;
}

Napi::Object word_to_js(Napi::Env env, const Word& word, const TimeLine& time_line) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("text", word.text);
  out.Set("startSeconds", time_line.of_start(word.start_seconds));
  out.Set("endSeconds", time_line.of_end(word.end_seconds));
  out.Set("probability", word.probability);
  return out;
}

Napi::Object decoding_to_js(Napi::Env env, const SegmentDecoding& decoding, const TimeLine& time_line) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("windowStartSeconds", time_line.of_start(0));
  if (decoding.opening >= 0) out.Set("opening", decoding.opening);
  out.Set("tokens", to_array(env, decoding.tokens, [&](int id) { return Napi::Number::New(env, id); }));
  out.Set("averageLogProbability", decoding.average_log_probability);
  out.Set("temperature", decoding.temperature);
  return out;
}

Napi::Object segment_to_js(Napi::Env env, const Segment& segment, const TimeLine& time_line) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("startSeconds", time_line.of_start(segment.start_seconds));
  out.Set("endSeconds", time_line.of_end(segment.end_seconds));
  out.Set("text", segment.text);
  out.Set("noSpeechProbability", segment.no_speech_probability);
  if (segment.decoding) out.Set("decoding", decoding_to_js(env, *segment.decoding, time_line));
  if (!segment.words.empty()) {
    out.Set("words", to_array(env, segment.words, [&](const Word& word) { return word_to_js(env, word, time_line); }));
  }
  return out;
}

Napi::Object timings_to_js(Napi::Env env, const Timings& timings) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("melMs", timings.mel_ms);
  out.Set("encodeMs", timings.encode_ms);
  out.Set("decodeMs", timings.decode_ms);
  out.Set("totalMs", timings.total_ms);
  out.Set("tokens", timings.tokens);
  out.Set("fallbacks", timings.fallbacks);
  out.Set("encoderPasses", timings.encoder_passes);
  return out;
}

Napi::Value probabilities_to_js(Napi::Env env, const WindowResult& result) {
  if (result.language_probabilities.empty()) return env.Null();
  Napi::Object out = Napi::Object::New(env);
  for (const auto& [code, probability] : result.language_probabilities) out.Set(code, probability);
  return out;
}

Napi::Value average_to_js(Napi::Env env, const WindowResult& result) {
  if (!result.average_log_probability) return env.Null();
  return Napi::Number::New(env, *result.average_log_probability);
}

Napi::Object abilities_to_js(Napi::Env env, const SpeechAbilities& abilities) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("detectsLanguage", abilities.detects_language);
  out.Set("translates", abilities.translates);
  out.Set("takesPrompt", abilities.takes_prompt);
  out.Set("takesTemperature", abilities.takes_temperature);
  out.Set("takesPrefix", abilities.takes_prefix);
  out.Set("timesWords", abilities.times_words);
  return out;
}

Napi::Value weight_cache_to_js(Napi::Env env, const SpeechModelInfo& info) {
  if (!info.weight_cache) return env.Null();
  const transformer::WeightCacheReport& report = *info.weight_cache;
  Napi::Object out = Napi::Object::New(env);
  out.Set("foundBytes", static_cast<double>(report.found_bytes));
  out.Set("sharedBytes", static_cast<double>(report.shared_bytes));
  out.Set("writtenBytes", static_cast<double>(report.written_bytes));
  out.Set("problem", report.problem.empty() ? env.Null() : Napi::String::New(env, report.problem));
  return out;
}

void read_prefix(Napi::Value prefix, TextPrefix& out) {
  if (prefix.IsUndefined()) return;
  const OptionReader reader(prefix, "options.prefix");
  reader.required("text", out.text);
  reader.required("tokens", out.tokens);
}

}  // namespace

void read_accelerator(const OptionReader& options, AcceleratorMode& out) {
  options.optional(
      "accelerator", out,
      {{"auto", AcceleratorMode::kAuto}, {"float32", AcceleratorMode::kFloat32}, {"off", AcceleratorMode::kOff}});
}

DecodeOptions decode_options(Napi::Value options) {
  const OptionReader reader(options, "options");
  DecodeOptions out;
  reader.required("language", out.language);
  reader.optional("languageGuess", out.language_guess);
  reader.optional("task", out.task, {{"transcribe", SpeechTask::kTranscribe}, {"translate", SpeechTask::kTranslate}});
  reader.optional("beamSize", out.beam_size);
  reader.optional("temperature", out.temperature);
  reader.optional("temperatureIncrement", out.temperature_increment);
  reader.optional("initialPrompt", out.initial_prompt);
  read_prefix(options.As<Napi::Object>().Get("prefix"), out.prefix);
  reader.optional("logProbThreshold", out.log_prob_threshold);
  reader.optional("ownLength", out.own_length);
  reader.optional("align", out.align);
  reader.optional("describe", out.describe);
  return out;
}

Napi::Object to_js(Napi::Env env, const WindowResult& result, const TimeLine& time_line) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("segments",
          to_array(env, result.segments, [&](const Segment& s) { return segment_to_js(env, s, time_line); }));
  out.Set("language", result.language);
  out.Set("languageProbabilities", probabilities_to_js(env, result));
  out.Set("averageLogProbability", average_to_js(env, result));
  out.Set("scoredTokens", result.scored_tokens);
  out.Set("timings", timings_to_js(env, result.timings));
  return out;
}

Napi::Object to_js(Napi::Env env, const SpeechModelInfo& info) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("family", info.family);
  out.Set("abilities", abilities_to_js(env, info.abilities));
  out.Set("type", info.type);
  out.Set("weightType", info.weight_type);
  out.Set("languages",
          to_array(env, info.languages, [&](const std::string& code) { return Napi::String::New(env, code); }));
  out.Set("device", info.device);
  out.Set("deviceName", info.device_name);
  out.Set("memoryBytes", static_cast<double>(info.memory_bytes));
  out.Set("accelerator", info.accelerator);
  out.Set("weightCache", weight_cache_to_js(env, info));
  return out;
}

}  // namespace verbatim::addon
