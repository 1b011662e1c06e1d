#include "translation/ct2/transformer.h"

#include <cmath>

#include "error.h"
#include "translation/ct2/variable_set.h"

namespace verbatim::translation {
namespace {

[[noreturn]] void fail(const std::string& what) { throw EngineError(ErrorCode::kInvalidModel, "model.bin: " + what); }

class Reader {
 public:
  Reader(const Ct2File& file, const Ct2Config& config) : variables_(file), epsilon_(config.layer_norm_epsilon) {}

  transformer::Transformer read(std::uint32_t version) {
    transformer::Transformer model;
    model.round_before_cast = version >= 5;
    model.encoder = read_stack("encoder", false);
    model.decoder = read_stack("decoder", true);
    model.width = model.encoder.embeddings.columns;
    if (model.decoder.embeddings.columns != model.width) fail("encoder and decoder differ in width");
    model.projection = read_linear("decoder/projection", 0, width_);
    model.output_scale = variables_.attribute("decoder", "scale_outputs").value_or(1.0f);
    model.start_from_zero_embedding = flag("decoder", "start_from_zero_embedding", false);
    read_alignment(model);
    variables_.refuse_unread();
    return model;
  }

 private:
  bool flag(const std::string& scope, const char* name, bool fallback) const {
    const auto value = variables_.attribute(scope, name);
    return value ? *value != 0.0f : fallback;
  }

  // rows: 0 for any number.
  transformer::Linear read_linear(const std::string& name, std::size_t rows, std::size_t columns) const {
    transformer::Linear linear{variables_.matrix(name + "/weight", columns), {}};
    if (rows != 0 && linear.weight.rows != rows) {
      fail(name + "/weight has " + std::to_string(linear.weight.rows) + " rows, expected " + std::to_string(rows));
    }
    linear.bias = variables_.find_vector(name + "/bias", linear.weight.rows);
    return linear;
  }

  transformer::LayerNorm read_norm(const std::string& name) const {
    transformer::LayerNorm norm{variables_.vector(name + "/gamma", width_),
                                variables_.find_vector(name + "/beta", width_), 0.0f};
    norm.epsilon = epsilon_.value_or(norm.beta.empty() ? 1e-6f : 1e-5f);
    return norm;
  }

  std::optional<transformer::LayerNorm> find_norm(const std::string& name) const {
    return variables_.contains(name + "/gamma") ? std::optional(read_norm(name)) : std::nullopt;
  }

  transformer::Attention read_attention(const std::string& name, bool is_self, int heads) const {
    transformer::Attention attention;
    attention.norm = read_norm(name + "/layer_norm");
    attention.query = read_linear(name + "/linear_0", is_self ? 3 * width_ : width_, width_);
    if (!is_self) attention.key_value = read_linear(name + "/linear_1", 2 * width_, width_);
    attention.output = read_linear(name + (is_self ? "/linear_1" : "/linear_2"), width_, width_);
    if (is_self) read_relative_positions(name, static_cast<std::size_t>(heads), attention);
    return attention;
  }

  void read_relative_positions(const std::string& name, std::size_t heads, transformer::Attention& attention) const {
    attention.relative_keys = variables_.find_matrix(name + "/relative_position_keys", width_ / heads);
    attention.relative_values = variables_.find_matrix(name + "/relative_position_values", width_ / heads);
    if (attention.relative_keys.rows != attention.relative_values.rows) {
      fail(name + ": relative_position_keys and relative_position_values must have the same rows");
    }
    if (!attention.relative_keys.empty() && attention.relative_keys.rows % 2 == 0) {
      fail(name + "/relative_position_keys must have an odd number of rows");
    }
  }

  transformer::FeedForward read_feed_forward(const std::string& name) const {
    transformer::FeedForward ffn{read_norm(name + "/layer_norm"), read_linear(name + "/linear_0", 0, width_), {}, {}};
    const std::size_t inner = ffn.up.weight.rows;
    if (variables_.contains(name + "/linear_0_noact/weight")) {
      ffn.gate = read_linear(name + "/linear_0_noact", inner, width_);
    }
    ffn.down = read_linear(name + "/linear_1", width_, inner);
    return ffn;
  }

  transformer::TransformerLayer read_layer(const std::string& name, bool is_decoder, int heads) const {
    transformer::TransformerLayer layer;
    layer.self_attention = read_attention(name + "/self_attention", true, heads);
    if (is_decoder) layer.cross_attention = read_attention(name + "/attention", false, heads);
    layer.feed_forward = read_feed_forward(name + "/ffn");
    return layer;
  }

  int read_heads(const std::string& scope) const {
    const auto stored = variables_.attribute(scope, "num_heads");
    const auto implied = variables_.implied_heads();
    if (!stored && !implied) fail(scope + "/num_heads is missing");
    const float heads = stored ? *stored : static_cast<float>(*implied);
    if (heads < 1.0f || heads > 32767.0f || width_ % static_cast<std::size_t>(heads) != 0) {
      fail(scope + "/num_heads must divide the width of " + std::to_string(width_));
    }
    return static_cast<int>(heads);
  }

  transformer::Activation read_activation(const std::string& scope) const {
    const float code = variables_.attribute(scope, "activation").value_or(0.0f);
    if (code < 0.0f || code > static_cast<float>(transformer::Activation::kSigmoid)) {
      fail(scope + "/activation " + std::to_string(static_cast<int>(code)) + " is unknown; 0 to 6 are known");
    }
    return static_cast<transformer::Activation>(static_cast<int>(code));
  }

  // The scale of embeddings: an int8 flag (sqrt(d) or none), or the factor itself.
  float read_embeddings_scale(const std::string& scope) const {
    const Ct2Variable* scale = variables_.find(scope + "/scale_embeddings");
    if (!scale) scale = variables_.find(scope + "/embeddings/multiply_by_sqrt_depth");
    const float root = std::sqrt(static_cast<float>(width_));
    if (!scale) return root;
    if (scale->size() != 1) fail(scope + "/scale_embeddings must be a scalar");
    const float value = scale->at(0);
    if (scale->type != transformer::ElementType::kInt8) return value;
    return value != 0.0f ? root : 1.0f;
  }

  transformer::MatrixView read_embeddings(const std::string& scope, bool is_decoder) const {
    if (variables_.contains(scope + "/embeddings_1/weight")) {
      fail("source features (" + scope + "/embeddings_1) are not supported");
    }
    const bool is_numbered = !is_decoder && !variables_.contains(scope + "/embeddings/weight");
    return variables_.matrix(scope + (is_numbered ? "/embeddings_0/weight" : "/embeddings/weight"), 0);
  }

  transformer::TransformerStack read_stack(const std::string& scope, bool is_decoder) {
    transformer::TransformerStack stack;
    stack.embeddings = read_embeddings(scope, is_decoder);
    width_ = stack.embeddings.columns;
    stack.heads = read_heads(scope);
    stack.pre_norm = flag(scope, "pre_norm", true);
    stack.activation = read_activation(scope);
    stack.embeddings_scale = read_embeddings_scale(scope);
    stack.positions = variables_.find_matrix(scope + "/position_encodings/encodings", width_);
    stack.embeddings_norm = find_norm(scope + "/layernorm_embedding");
    stack.final_norm = find_norm(scope + "/layer_norm");
    read_layers(scope, is_decoder, stack);
    const bool is_relative = !stack.layers.front().self_attention.relative_keys.empty();
    stack.generated_positions = stack.positions.empty() && !is_relative;
    if (stack.generated_positions && (width_ % 2 != 0 || width_ < 4)) fail("generated positions need an even width");
    return stack;
  }

  void read_layers(const std::string& scope, bool is_decoder, transformer::TransformerStack& stack) const {
    for (std::size_t i = 0;; ++i) {
      const std::string name = scope + "/layer_" + std::to_string(i);
      if (!variables_.contains(name + "/self_attention/linear_0/weight")) break;
      stack.layers.push_back(read_layer(name, is_decoder, stack.heads));
    }
    if (stack.layers.empty()) fail(scope + "/layer_0 is missing");
  }

  void read_alignment(transformer::Transformer& model) const {
    const auto layers = static_cast<float>(model.decoder.layers.size());
    float layer = variables_.attribute("decoder", "alignment_layer").value_or(-1.0f);
    if (layer < 0.0f) layer += layers;
    if (layer < 0.0f || layer >= layers) fail("decoder/alignment_layer names a layer that is not there");
    const float heads = variables_.attribute("decoder", "alignment_heads").value_or(1.0f);
    if (heads < 0.0f || heads > static_cast<float>(model.decoder.heads)) {
      fail("decoder/alignment_heads exceeds the number of heads");
    }
    model.alignment_layer = static_cast<std::size_t>(layer);
    model.alignment_heads = heads == 0.0f ? model.decoder.heads : static_cast<int>(heads);
  }

  VariableSet variables_;
  std::optional<float> epsilon_;
  std::size_t width_ = 0;
};

}  // namespace

transformer::Transformer read_transformer(const Ct2File& file, const Ct2Config& config) {
  return Reader(file, config).read(file.version());
}

}  // namespace verbatim::translation
