#include "testing/random_whisper_model.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "testing/noise.h"
#include "testing/scripted_decoder.h"

namespace verbatim::test {
namespace {

constexpr std::uint32_t kMagic = 0x67676d6c;
constexpr std::int32_t kFrequencies = 201;
constexpr const char* kEmbedding = "decoder.token_embedding.weight";
constexpr const char* kPositions = "decoder.positional_embedding";
// ggml's number of a float16 file; those of quantized ones carry the version of the quantization.
constexpr std::int32_t kFloat16File = 1;
constexpr std::int32_t kQuantizationVersion = 2 * 1000;

class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) {
    stream_.exceptions(std::ios::failbit | std::ios::badbit);
    stream_.open(path, std::ios::binary);
  }
  template <typename T>
  void value(T number) {
    bytes(&number, sizeof(number));
  }
  void bytes(const void* data, std::size_t size) {
    stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  void text(const std::string& characters) {
    value(static_cast<std::int32_t>(characters.size()));
    bytes(characters.data(), characters.size());
  }

 private:
  std::ofstream stream_;
};

void write_header(Writer& out, const ModelShape& shape) {
  out.value(kMagic);
  for (const std::int32_t field :
       {shape.vocabulary, shape.audio_context, shape.audio_state, shape.audio_heads, shape.audio_layers,
        shape.text_context, shape.text_state, shape.text_heads, shape.text_layers, shape.mels,
        shape.file_type + (shape.file_type > kFloat16File ? kQuantizationVersion : 0)}) {
    out.value(field);
  }
}

// Triangles of equal width: enough of a filter bank for noise.
void write_filters(Writer& out, std::int32_t mels) {
  out.value(mels);
  out.value(kFrequencies);
  const float step = static_cast<float>(kFrequencies) / static_cast<float>(mels + 1);
  for (std::int32_t band = 0; band < mels; ++band) {
    const float peak = step * static_cast<float>(band + 1);
    for (std::int32_t frequency = 0; frequency < kFrequencies; ++frequency) {
      const float distance = std::abs(static_cast<float>(frequency) - peak) / step;
      out.value(std::max(0.0f, 1.0f - distance) * 0.025f);
    }
  }
}

// Tokens of text, one of them the blank that the reader looks for; whisper.cpp names the special ones itself.
void write_vocabulary(Writer& out) {
  constexpr std::int32_t kTextTokens = 50257;
  out.value(kTextTokens);
  for (std::int32_t token = 0; token < kTextTokens; ++token)
    out.text(token == 0 ? " " : " w" + std::to_string(token));
}

bool is_gain(const std::string& name) {
  return name.ends_with("ln.weight") || name.ends_with("ln_post.weight");
}

// Scaled as a trained network's weights roughly are.
float scale_of(const std::string& name, const TensorShape& tensor) {
  if (is_gain(name) || tensor.dimensions[1] == 1 || tensor.dimensions[0] == 1) return 0.1f;
  const auto inputs = static_cast<float>(name.find("conv") == std::string::npos
                                             ? tensor.dimensions[0]
                                             : tensor.dimensions[0] * tensor.dimensions[1]);
  return std::sqrt(3.0f / inputs);
}

// FNV-1a: std::hash may differ from one library to the next.
std::uint32_t hash(const std::string& text) {
  std::uint32_t value = 2166136261u;
  for (const char character : text) value = (value ^ static_cast<unsigned char>(character)) * 16777619u;
  return value;
}

void write_values(Writer& out, ggml_type type, const std::vector<float>& values, std::int64_t row) {
  if (type == GGML_TYPE_F32) {
    out.bytes(values.data(), values.size() * sizeof(float));
    return;
  }
  const auto rows = static_cast<std::int64_t>(values.size()) / row;
  std::vector<char> stored(ggml_row_size(type, row) * static_cast<std::size_t>(rows));
  ggml_quantize_chunk(type, values.data(), stored.data(), 0, rows, row, nullptr);
  out.bytes(stored.data(), stored.size());
}

void write_tensor(Writer& out, const std::string& name, const TensorShape& tensor,
                  const std::vector<float>& values) {
  std::int32_t rank = 4;
  while (rank > 1 && tensor.dimensions[static_cast<std::size_t>(rank - 1)] == 1) --rank;
  out.value(rank);
  out.value(static_cast<std::int32_t>(name.size()));
  out.value(static_cast<std::int32_t>(tensor.type));
  for (std::int32_t i = 0; i < rank; ++i) {
    out.value(static_cast<std::int32_t>(tensor.dimensions[static_cast<std::size_t>(i)]));
  }
  out.bytes(name.data(), name.size());
  write_values(out, tensor.type, values, tensor.dimensions[0]);
}

}  // namespace

namespace {

std::int32_t file_type(const std::string& weights) {
  static const std::map<std::string, std::int32_t> kTypes = {
      {"f32", 0},  {"f16", 1},   {"q4_0", 2},  {"q4_1", 3},  {"q5_0", 8},  {"q5_1", 9},
      {"q8_0", 7}, {"q2_k", 10}, {"q3_k", 11}, {"q4_k", 12}, {"q5_k", 13}, {"q6_k", 14}};
  const auto found = kTypes.find(weights);
  if (found != kTypes.end()) return found->second;
  throw std::invalid_argument(
      "\"" + weights +
      "\" is no type of weights; allowed: f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k to q6_k");
}

}  // namespace

ModelShape published_shape(const std::string& name, const std::string& weights) {
  struct Size {
    std::int32_t state, heads, audio_layers, text_layers, mels, vocabulary;
  };
  static const std::map<std::string, Size> kSizes = {{"tiny", {384, 6, 4, 4, 80, 51865}},
                                                     {"base", {512, 8, 6, 6, 80, 51865}},
                                                     {"small", {768, 12, 12, 12, 80, 51865}},
                                                     {"large-v3-turbo", {1280, 20, 32, 4, 128, 51866}}};
  const auto found = kSizes.find(name);
  if (found == kSizes.end()) {
    throw std::invalid_argument("\"" + name + "\" is no shape; allowed: tiny, base, small, large-v3-turbo");
  }
  const Size& size = found->second;
  return {size.vocabulary, 1500,       size.state,       size.heads, size.audio_layers, 448,
          size.state,      size.heads, size.text_layers, size.mels,  file_type(weights)};
}

std::vector<float> random_tensor(const std::string& name, const TensorShape& tensor, std::uint32_t seed) {
  Noise noise(seed ^ hash(name));
  const float scale = scale_of(name, tensor);
  const float offset = is_gain(name) ? 1.0f : 0.0f;
  std::size_t count = 1;
  for (const std::int64_t size : tensor.dimensions) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) value = offset + scale * noise.next();
  return values;
}

void write_random_model(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& path,
                        int text_tokens) {
  Writer out(path);
  write_header(out, shape);
  write_filters(out, shape.mels);
  write_vocabulary(out);
  const auto tensors = expected_tensors(shape);
  // In the order of names, whatever the hash table's is.
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) {
    std::vector<float> values = random_tensor(name, tensor, seed);
    if (text_tokens > 0 && name == kPositions) {
      script_positions(values, random_tensor(kEmbedding, tensors.at(kEmbedding), seed), shape, text_tokens);
    }
    write_tensor(out, name, tensor, values);
  }
}

}  // namespace verbatim::test
