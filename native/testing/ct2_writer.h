#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transformer/half.h"
#include "transformer/quantize_weights.h"
#include "translation/ct2/file.h"

namespace verbatim::translation {

// Writes model.bin in any binary version, for tests, the benchmark and the fuzzer's seeds.
class Ct2Writer {
 public:
  struct Variable {
    std::vector<std::uint32_t> shape;
    transformer::ElementType type = transformer::ElementType::kFloat32;
    std::string data;
  };

  template <typename T>
  void add(const std::string& name, std::vector<std::uint32_t> shape, transformer::ElementType type,
           const std::vector<T>& values) {
    variables_[name] = {std::move(shape), type,
                        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
  }
  void add_flag(const std::string& name, int value) {
    add<std::int8_t>(name, {}, transformer::ElementType::kInt8, {static_cast<std::int8_t>(value)});
  }
  void add_int16(const std::string& name, int value) {
    add<std::int16_t>(name, {}, transformer::ElementType::kInt16, {static_cast<std::int16_t>(value)});
  }
  void add_vector(const std::string& name, const std::vector<float>& values) {
    add(name, {static_cast<std::uint32_t>(values.size())}, transformer::ElementType::kFloat32, values);
  }
  // Adds a weight in `type`, with its scales if it is quantized.
  void add_weight(const std::string& name, std::uint32_t rows, std::uint32_t columns, const std::vector<float>& values,
                  transformer::ElementType type) {
    if (type == transformer::ElementType::kInt8) return add_int8(name, rows, columns, values);
    if (type == transformer::ElementType::kInt16) return add_int16_weight(name, rows, columns, values);
    if (type == transformer::ElementType::kFloat32) return add(name, {rows, columns}, type, values);
    std::vector<std::uint16_t> halves;
    for (const float value : values) {
      halves.push_back(type == transformer::ElementType::kFloat16 ? transformer::float_to_float16(value)
                                                                  : transformer::float_to_bfloat16(value));
    }
    add(name, {rows, columns}, type, halves);
  }
  void add_alias(const std::string& alias, const std::string& target) { aliases_.emplace_back(alias, target); }

  std::map<std::string, Variable>& variables() { return variables_; }

  std::string bytes(std::uint32_t version, const std::string& spec, std::uint32_t revision) const {
    std::string out;
    put(out, version);
    if (version >= 2) {
      put_string(out, spec);
      put(out, revision);
    }
    put(out, static_cast<std::uint32_t>(variables_.size()));
    for (const auto& [name, variable] : variables_) put_variable(out, version, name, variable);
    if (version < 3) return out;
    put(out, static_cast<std::uint32_t>(aliases_.size()));
    for (const auto& [alias, target] : aliases_) {
      put_string(out, alias);
      put_string(out, target);
    }
    return out;
  }

  void write(const std::filesystem::path& path, std::uint32_t version, const std::string& spec,
             std::uint32_t revision) const {
    const std::string content = bytes(version, spec, revision);
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }

 private:
  void add_int8(const std::string& name, std::uint32_t rows, std::uint32_t columns, const std::vector<float>& values) {
    std::vector<std::int8_t> stored(values.size());
    std::vector<float> scales;
    for (std::size_t i = 0; i < rows; ++i) {
      scales.push_back(transformer::quantize_weights(std::span(values).subspan(i * columns, columns),
                                                     std::span(stored).subspan(i * columns, columns)));
    }
    add(name, {rows, columns}, transformer::ElementType::kInt8, stored);
    add_vector(name + "_scale", scales);
  }

  void add_int16_weight(const std::string& name, std::uint32_t rows, std::uint32_t columns,
                        const std::vector<float>& values) {
    float peak = 1e-9f;
    for (const float value : values) peak = std::max(peak, std::abs(value));
    std::vector<std::int16_t> stored;
    for (const float value : values)
      stored.push_back(static_cast<std::int16_t>(std::nearbyint(value * 1024.0f / peak)));
    add(name, {rows, columns}, transformer::ElementType::kInt16, stored);
    add<float>(name + "_scale", {}, transformer::ElementType::kFloat32, {1024.0f / peak});
  }

  template <typename T>
  static void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }

  static void put_string(std::string& out, const std::string& text) {
    put(out, static_cast<std::uint16_t>(text.size() + 1));
    out.append(text.c_str(), text.size() + 1);
  }

  static void put_variable(std::string& out, std::uint32_t version, const std::string& name, const Variable& variable) {
    put_string(out, name);
    put(out, static_cast<std::uint8_t>(variable.shape.size()));
    for (const std::uint32_t size : variable.shape) put(out, size);
    const auto item = static_cast<std::uint32_t>(transformer::element_size(variable.type));
    const auto bytes = static_cast<std::uint32_t>(variable.data.size());
    put(out, static_cast<std::uint8_t>(version >= 4 ? static_cast<std::uint32_t>(variable.type) : item));
    put(out, version >= 4 ? bytes : bytes / item);
    out += variable.data;
  }

  std::map<std::string, Variable> variables_;
  std::vector<std::pair<std::string, std::string>> aliases_;
};

}  // namespace verbatim::translation
