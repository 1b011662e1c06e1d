#include "speech/random_models/random_whisper_model.h"

#include <cmath>
#include <map>
#include <vector>

#include "error.h"
#include "speech/random_models/ggml_writer.h"
#include "speech/random_models/noise.h"
#include "speech/random_models/scripted_decoder.h"

namespace verbatim::random_models {
namespace {

constexpr std::int32_t kFrequencies = 201;
constexpr const char* kEmbedding = "decoder.token_embedding.weight";
constexpr const char* kPositions = "decoder.positional_embedding";

void write_header(GgmlWriter& out, const ModelShape& shape) {
  out.value(GgmlWriter::kMagic);
  for (const std::int32_t field : {shape.vocabulary, shape.audio_context, shape.audio_state, shape.audio_heads,
                                   shape.audio_layers, shape.text_context, shape.text_state, shape.text_heads,
                                   shape.text_layers, shape.mels, versioned(shape.file_type)}) {
    out.value(field);
  }
}

// The vocabulary: text tokens, one of them the blank that the reader looks for. whisper.cpp itself names the special
// ones.
void write_vocabulary(GgmlWriter& out) {
  constexpr std::int32_t kTextTokens = 50257;
  out.value(kTextTokens);
  for (std::int32_t token = 0; token < kTextTokens; ++token) out.text(token == 0 ? " " : " w" + std::to_string(token));
}

bool is_gain(const std::string& name) { return name.ends_with("ln.weight") || name.ends_with("ln_post.weight"); }

// Scaled roughly as the weights of a trained network.
float scale_of(const std::string& name, const TensorShape& tensor) {
  if (is_gain(name) || tensor.dimensions[1] == 1 || tensor.dimensions[0] == 1) return 0.1f;
  const auto inputs = static_cast<float>(
      name.find("conv") == std::string::npos ? tensor.dimensions[0] : tensor.dimensions[0] * tensor.dimensions[1]);
  return std::sqrt(3.0f / inputs);
}

struct Size {
  std::int32_t state, heads, audio_layers, text_layers, mels, vocabulary;
};

const std::map<std::string, Size>& sizes() {
  static const std::map<std::string, Size> kSizes = {{"tiny", {384, 6, 4, 4, 80, 51865}},
                                                     {"base", {512, 8, 6, 6, 80, 51865}},
                                                     {"small", {768, 12, 12, 12, 80, 51865}},
                                                     {"large-v3-turbo", {1280, 20, 32, 4, 128, 51866}}};
  return kSizes;
}

}  // namespace

std::vector<std::string> published_shapes() {
  std::vector<std::string> names;
  for (const auto& [name, size] : sizes()) names.push_back(name);
  return names;
}

ModelShape published_shape(const std::string& name, const std::string& weights) {
  const auto found = sizes().find(name);
  if (found == sizes().end()) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "\"" + name + "\" is no shape; allowed: " + listed(published_shapes()));
  }
  const Size& size = found->second;
  return {size.vocabulary, 1500,       size.state,       size.heads, size.audio_layers, 448,
          size.state,      size.heads, size.text_layers, size.mels,  file_type(weights)};
}

std::vector<float> random_tensor(const std::string& name, const TensorShape& tensor, std::uint32_t seed) {
  Noise noise(seed ^ name_hash(name));
  const float scale = scale_of(name, tensor);
  const float offset = is_gain(name) ? 1.0f : 0.0f;
  std::vector<float> values(values_in(tensor));
  for (float& value : values) value = offset + scale * noise.next();
  return values;
}

void write_random_model(const ModelShape& shape, std::uint32_t seed, const std::filesystem::path& path, int text_tokens,
                        const WeightTraits& traits) {
  GgmlWriter out(path);
  write_header(out, shape);
  write_filters(out, shape.mels, kFrequencies);
  write_vocabulary(out);
  const auto tensors = expected_tensors(shape);
  // In the order of names, whatever the hash table's order.
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) {
    std::vector<float> values = random_tensor(name, tensor, seed);
    apply_traits(traits, shape, name, tensor, values);
    if (text_tokens > 0 && name == kPositions) {
      script_positions(values, random_tensor(kEmbedding, tensors.at(kEmbedding), seed), shape, text_tokens);
    }
    out.tensor(name, tensor, values);
  }
  out.close();
}

}  // namespace verbatim::random_models
