#include "speech/random_models/ggml_writer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "error.h"

namespace verbatim::random_models {
namespace {

// ggml's file type of float16; those of quantized files also contain the quantization version.
constexpr std::int32_t kFloat16File = 1;
constexpr std::int32_t kQuantizationVersion = 2 * 1000;

void write_values(GgmlWriter& out, ggml_type type, const std::vector<float>& values, std::int64_t row) {
  if (type == GGML_TYPE_F32) {
    out.bytes(values.data(), values.size() * sizeof(float));
    return;
  }
  const auto rows = static_cast<std::int64_t>(values.size()) / row;
  std::vector<char> stored(ggml_row_size(type, row) * static_cast<std::size_t>(rows));
  ggml_quantize_chunk(type, values.data(), stored.data(), 0, rows, row, nullptr);
  out.bytes(stored.data(), stored.size());
}

}  // namespace

void GgmlWriter::tensor(const std::string& name, const TensorShape& shape, const std::vector<float>& values,
                        std::int32_t least_rank) {
  std::int32_t rank = 4;
  while (rank > least_rank && shape.dimensions[static_cast<std::size_t>(rank - 1)] == 1) --rank;
  value(rank);
  value(static_cast<std::int32_t>(name.size()));
  value(static_cast<std::int32_t>(shape.type));
  for (std::int32_t i = 0; i < rank; ++i) {
    value(static_cast<std::int32_t>(shape.dimensions[static_cast<std::size_t>(i)]));
  }
  bytes(name.data(), name.size());
  write_values(*this, shape.type, values, shape.dimensions[0]);
}

void write_filters(GgmlWriter& out, std::int32_t bands, std::int32_t frequencies) {
  out.value(bands);
  out.value(frequencies);
  const float step = static_cast<float>(frequencies) / static_cast<float>(bands + 1);
  for (std::int32_t band = 0; band < bands; ++band) {
    const float peak = step * static_cast<float>(band + 1);
    for (std::int32_t frequency = 0; frequency < frequencies; ++frequency) {
      const float distance = std::abs(static_cast<float>(frequency) - peak) / step;
      out.value(std::max(0.0f, 1.0f - distance) * 0.025f);
    }
  }
}

std::int32_t file_type(const std::string& weights) {
  static const std::map<std::string, std::int32_t> kTypes = {{"f32", 0},   {"f16", 1},   {"q4_0", 2},  {"q4_1", 3},
                                                             {"q5_0", 8},  {"q5_1", 9},  {"q8_0", 7},  {"q2_k", 10},
                                                             {"q3_k", 11}, {"q4_k", 12}, {"q5_k", 13}, {"q6_k", 14}};
  const auto found = kTypes.find(weights);
  if (found != kTypes.end()) return found->second;
  throw EngineError(
      ErrorCode::kInvalidArgument,
      "\"" + weights + "\" is no type of weights; allowed: f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k to q6_k");
}

std::int32_t versioned(std::int32_t file_type) {
  return file_type + (file_type > kFloat16File ? kQuantizationVersion : 0);
}

// FNV-1a.
std::uint32_t name_hash(const std::string& name) {
  std::uint32_t value = 2166136261u;
  for (const char character : name) value = (value ^ static_cast<unsigned char>(character)) * 16777619u;
  return value;
}

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::size_t values_in(const TensorShape& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape.dimensions) count *= static_cast<std::size_t>(size);
  return count;
}

}  // namespace verbatim::random_models
