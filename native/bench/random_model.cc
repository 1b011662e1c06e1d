#include "random_model.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace verbatim::bench {
namespace {

constexpr std::uint32_t kMagic = 0x67676d6c;
constexpr std::int32_t kFrequencies = 201;
constexpr std::int32_t kFloat16File = 1;

// Uniform in [-1, 1): standard engines give the same numbers everywhere, standard distributions do not.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : engine_(seed) {}
  float next() { return static_cast<float>(engine_() >> 8) * (2.0f / 16777216.0f) - 1.0f; }

 private:
  std::mt19937 engine_;
};

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
        shape.file_type}) {
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

float value_of(const std::string& name, const TensorShape& tensor, Noise& noise) {
  if (is_gain(name)) return 1.0f + 0.1f * noise.next();
  if (tensor.dimensions[1] == 1 || tensor.dimensions[0] == 1) return 0.1f * noise.next();
  const auto inputs = static_cast<float>(name.find("conv") == std::string::npos
                                             ? tensor.dimensions[0]
                                             : tensor.dimensions[0] * tensor.dimensions[1]);
  return noise.next() * std::sqrt(3.0f / inputs);
}

void write_tensor(Writer& out, const std::string& name, const TensorShape& tensor, Noise& noise) {
  std::int32_t rank = 4;
  while (rank > 1 && tensor.dimensions[static_cast<std::size_t>(rank - 1)] == 1) --rank;
  out.value(rank);
  out.value(static_cast<std::int32_t>(name.size()));
  out.value(static_cast<std::int32_t>(tensor.type));
  for (std::int32_t i = 0; i < rank; ++i) {
    out.value(static_cast<std::int32_t>(tensor.dimensions[static_cast<std::size_t>(i)]));
  }
  out.bytes(name.data(), name.size());
  std::size_t count = 1;
  for (const std::int64_t size : tensor.dimensions) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) value = value_of(name, tensor, noise);
  if (tensor.type == GGML_TYPE_F32) {
    out.bytes(values.data(), count * sizeof(float));
    return;
  }
  std::vector<ggml_fp16_t> halves(count);
  ggml_fp32_to_fp16_row(values.data(), halves.data(), static_cast<std::int64_t>(count));
  out.bytes(halves.data(), count * sizeof(ggml_fp16_t));
}

}  // namespace

ModelShape published_shape(const std::string& name) {
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
          size.state,      size.heads, size.text_layers, size.mels,  kFloat16File};
}

void write_random_model(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& path) {
  Writer out(path);
  Noise noise(seed);
  write_header(out, shape);
  write_filters(out, shape.mels);
  write_vocabulary(out);
  const auto tensors = expected_tensors(shape);
  // In the order of names, whatever the hash table's is.
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) {
    write_tensor(out, name, tensor, noise);
  }
}

}  // namespace verbatim::bench
