#include "option_reader.h"

#include <cmath>
#include <limits>

#include "failure.h"

namespace verbatim::addon {
namespace {

// The value for a message; long strings and objects are abbreviated.
std::string describe(Napi::Value value) {
  constexpr std::size_t kLongest = 40;
  if (value.IsUndefined()) return "nothing";
  if (value.IsNull()) return "null";
  if (value.IsArray()) return "an array";
  if (value.IsFunction()) return "a function";
  if (value.IsObject()) return "an object";
  if (value.IsSymbol()) return "a symbol";
  const std::string text = value.ToString();
  if (!value.IsString()) return text;
  return text.size() <= kLongest ? '"' + text + '"' : "a string of " + std::to_string(text.size()) + " bytes";
}

}  // namespace

OptionReader::OptionReader(Napi::Value value, std::string name) : name_(std::move(name)) {
  if (!value.IsObject()) {
    throw argument_error(value.Env(), name_ + " must be an object, got " + describe(value) + ".");
  }
  object_ = value.As<Napi::Object>();
}

void OptionReader::convert(const char* key, Napi::Value value, bool& out) const {
  if (!value.IsBoolean()) throw wrong(key, "must be true or false", value);
  out = value.As<Napi::Boolean>();
}

void OptionReader::convert(const char* key, Napi::Value value, int& out) const {
  constexpr double kLowest = std::numeric_limits<int>::min();
  constexpr double kHighest = std::numeric_limits<int>::max();
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!(number >= kLowest && number <= kHighest && number == std::trunc(number))) {
    throw wrong(key, "must be an integer", value);
  }
  out = static_cast<int>(number);
}

void OptionReader::convert(const char* key, Napi::Value value, float& out) const {
  double number = 0.0;
  convert(key, value, number);
  if (std::abs(number) > std::numeric_limits<float>::max()) throw wrong(key, "must be a finite number", value);
  out = static_cast<float>(number);
}

void OptionReader::convert(const char* key, Napi::Value value, double& out) const {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : std::nan("");
  if (!std::isfinite(number)) throw wrong(key, "must be a finite number", value);
  out = number;
}

void OptionReader::convert(const char* key, Napi::Value value, std::string& out) const {
  if (!value.IsString()) throw wrong(key, "must be a string", value);
  out = value.As<Napi::String>();
}

void OptionReader::convert(const char* key, Napi::Value value, std::vector<int>& out) const {
  if (!value.IsArray()) throw wrong(key, "must be a list of integers", value);
  const Napi::Array items = value.As<Napi::Array>();
  out.resize(items.Length());
  for (std::uint32_t i = 0; i < items.Length(); ++i) convert(key, items.Get(i), out[i]);
}

Napi::TypeError OptionReader::wrong(const char* key, const std::string& rule, Napi::Value value) const {
  const std::string given = value.IsUndefined() ? "" : ", got " + describe(value);
  return argument_error(object_.Env(), name_ + "." + key + " " + rule + given + ".");
}

std::string path_argument(Napi::Value value) {
  if (!value.IsString()) {
    throw argument_error(value.Env(), "path must be a string, got " + describe(value) + ".");
  }
  std::string path = value.As<Napi::String>();
  if (path.empty()) throw argument_error(value.Env(), "path must not be empty.");
  if (path.find('\0') != std::string::npos) {
    throw argument_error(value.Env(), "path must not contain a NUL character.");
  }
  return path;
}

std::int64_t sample_position(Napi::Value value, const std::string& name) {
  constexpr double kHighest = 9007199254740991.0;
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1.0;
  if (number >= 0 && number <= kHighest && number == std::trunc(number)) return static_cast<std::int64_t>(number);
  throw argument_error(value.Env(),
                       name + " must be an integer from 0 on, in samples at 16 kHz, got " + describe(value) + ".");
}

}  // namespace verbatim::addon
