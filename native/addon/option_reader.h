#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "napi_setup.h"

namespace verbatim::addon {

// Reads an options object into a struct, property by property. It checks types only, since the engine checks ranges. It
// throws a JS TypeError that names the property, what is allowed and what was given. A property that is absent or
// undefined keeps the struct's default.
class OptionReader {
 public:
  template <typename E>
  using Choices = std::initializer_list<std::pair<const char*, E>>;

  // `name`: the argument's name, such as "options" or "policy".
  OptionReader(Napi::Value value, std::string name);

  template <typename T>
  void required(const char* key, T& out) const {
    const Napi::Value value = object_.Get(key);
    if (value.IsUndefined()) throw wrong(key, "is required", value);
    convert(key, value, out);
  }

  template <typename T>
  void optional(const char* key, T& out) const {
    const Napi::Value value = object_.Get(key);
    if (!value.IsUndefined()) convert(key, value, out);
  }

  // One of a set of strings.
  template <typename E>
  void required(const char* key, E& out, Choices<E> choices) const {
    convert(key, object_.Get(key), out, choices);
  }

  template <typename E>
  void optional(const char* key, E& out, Choices<E> choices) const {
    const Napi::Value value = object_.Get(key);
    if (!value.IsUndefined()) convert(key, value, out, choices);
  }

 private:
  void convert(const char* key, Napi::Value value, bool& out) const;
  void convert(const char* key, Napi::Value value, int& out) const;
  void convert(const char* key, Napi::Value value, float& out) const;
  void convert(const char* key, Napi::Value value, double& out) const;
  void convert(const char* key, Napi::Value value, std::string& out) const;
  void convert(const char* key, Napi::Value value, std::vector<int>& out) const;

  template <typename E>
  void convert(const char* key, Napi::Value value, E& out, Choices<E> choices) const {
    std::string allowed;
    const std::string given = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
    for (const auto& [name, choice] : choices) {
      if (value.IsString() && given == name) {
        out = choice;
        return;
      }
      allowed += (allowed.empty() ? "must be \"" : " or \"") + std::string(name) + "\"";
    }
    throw wrong(key, allowed, value);
  }

  Napi::TypeError wrong(const char* key, const std::string& rule, Napi::Value value) const;

  Napi::Object object_;
  std::string name_;
};

// A path as a string: not empty, and without a NUL, which would end it in C.
std::string path_argument(Napi::Value value);

// An integer from 0 on that a number stands for exactly: a place in a signal, in samples at 16 kHz.
std::int64_t sample_position(Napi::Value value, const std::string& name);

}  // namespace verbatim::addon
