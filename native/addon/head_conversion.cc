#include "head_conversion.h"

#include <cstdint>
#include <vector>

#include "failure.h"

namespace verbatim::addon {
namespace {

Napi::Array array_argument(Napi::Value value, const std::string& name) {
  if (!value.IsArray()) throw argument_error(value.Env(), name + " must be an array.");
  return value.As<Napi::Array>();
}

std::string element(const std::string& name, std::uint32_t index) { return name + "[" + std::to_string(index) + "]"; }

std::size_t index_of(const OptionReader& reader, const char* key, Napi::Env env, const std::string& name) {
  int value = 0;
  reader.required(key, value);
  if (value < 0) throw argument_error(env, name + "." + key + " must be 0 or more.");
  return static_cast<std::size_t>(value);
}

// Converts seconds of a window to seconds of its file.
template <typename Place>
Napi::Array placed(Napi::Env env, const std::vector<double>& seconds, Place place) {
  Napi::Array out = Napi::Array::New(env, seconds.size());
  for (std::uint32_t i = 0; i < seconds.size(); ++i) out.Set(i, place(seconds[i]));
  return out;
}

}  // namespace

HeadSet head_set(Napi::Value value, const std::string& name) {
  const Napi::Array array = array_argument(value, name);
  HeadSet heads;
  for (std::uint32_t i = 0; i < array.Length(); ++i) {
    const OptionReader reader(array.Get(i), element(name, i));
    heads.push_back({index_of(reader, "layer", value.Env(), element(name, i)),
                     index_of(reader, "head", value.Env(), element(name, i))});
  }
  return heads;
}

std::vector<HeadSet> head_sets(Napi::Value value, const std::string& name) {
  const Napi::Array array = array_argument(value, name);
  std::vector<HeadSet> sets;
  for (std::uint32_t i = 0; i < array.Length(); ++i) sets.push_back(head_set(array.Get(i), element(name, i)));
  return sets;
}

HeadSet alignment_heads(Napi::Value options) {
  const Napi::Value given = options.As<Napi::Object>().Get("alignmentHeads");
  return given.IsUndefined() ? HeadSet() : head_set(given, "options.alignmentHeads");
}

Napi::Object to_js(Napi::Env env, const DecoderHeads& heads) {
  Napi::Array alignment = Napi::Array::New(env, heads.alignment.size());
  for (std::uint32_t i = 0; i < heads.alignment.size(); ++i) {
    Napi::Object head = Napi::Object::New(env);
    head.Set("layer", static_cast<double>(heads.alignment[i].layer));
    head.Set("head", static_cast<double>(heads.alignment[i].head));
    alignment.Set(i, head);
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("layers", heads.layers);
  out.Set("heads", heads.heads);
  out.Set("alignment", alignment);
  return out;
}

Napi::Object to_js(Napi::Env env, const TextAlignment& alignment, const TimeLine& time_line) {
  Napi::Array words = Napi::Array::New(env, alignment.words.size());
  for (std::uint32_t i = 0; i < alignment.words.size(); ++i) words.Set(i, alignment.words[i]);
  Napi::Array times = Napi::Array::New(env, alignment.times.size());
  for (std::uint32_t i = 0; i < alignment.times.size(); ++i) {
    Napi::Object each = Napi::Object::New(env);
    each.Set("startSeconds", placed(env, alignment.times[i].starts, [&](double at) { return time_line.of_start(at); }));
    each.Set("endSeconds", placed(env, alignment.times[i].ends, [&](double at) { return time_line.of_end(at); }));
    times.Set(i, each);
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("words", words);
  out.Set("times", times);
  return out;
}

}  // namespace verbatim::addon
