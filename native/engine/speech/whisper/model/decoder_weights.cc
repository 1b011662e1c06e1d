#include "speech/whisper/model/decoder_weights.h"

#include <string>
#include <utility>
#include <vector>

namespace verbatim::whisper {
namespace {

using namespace transformer;

MatrixView stacked(std::vector<StoredMatrix> parts) {
  MatrixView view;
  view.columns = parts.front().columns;
  for (const StoredMatrix& part : parts) view.rows += part.rows;
  view.reader = [parts = std::move(parts)](std::size_t row, std::span<float> out) {
    std::size_t i = 0;
    for (; row >= parts[i].rows; ++i) row -= parts[i].rows;
    parts[i].read_row(row, out);
  };
  return view;
}

// Reads a layer's tensors; holds their common name in the file.
class LayerReader {
 public:
  explicit LayerReader(const ModelReader& file) : file_(file) {}

  LayerNorm norm(const std::string& name) const {
    return {.gamma = file_.values(name + ".weight"), .beta = file_.values(name + ".bias")};
  }
  Linear linear(const std::string& name) const {
    return {.weight = stacked({file_.matrix(name + ".weight")}), .bias = file_.values(name + ".bias")};
  }
  Attention self_attention(const std::string& name) const {
    Attention attention;
    attention.norm = norm(name + "_ln");
    attention.query.weight = stacked({file_.matrix(name + ".query.weight"), file_.matrix(name + ".key.weight"),
                                      file_.matrix(name + ".value.weight")});
    std::vector<float>& bias = attention.query.bias;
    bias = file_.values(name + ".query.bias");
    // The key projection has no bias.
    bias.resize(2 * bias.size(), 0.0f);
    const std::vector<float> value = file_.values(name + ".value.bias");
    bias.insert(bias.end(), value.begin(), value.end());
    attention.output = linear(name + ".out");
    return attention;
  }
  Attention cross_attention(const std::string& name) const {
    Attention attention;
    attention.norm = norm(name + "_ln");
    attention.query = linear(name + ".query");
    attention.output = linear(name + ".out");
    return attention;
  }
  TransformerLayer layer(const std::string& name) const {
    TransformerLayer layer;
    layer.self_attention = self_attention(name + ".attn");
    layer.cross_attention = cross_attention(name + ".cross_attn");
    layer.feed_forward.norm = norm(name + ".mlp_ln");
    layer.feed_forward.up = linear(name + ".mlp.0");
    layer.feed_forward.down = linear(name + ".mlp.2");
    return layer;
  }

 private:
  const ModelReader& file_;
};

}  // namespace

Transformer read_decoder(const ModelReader& reader) {
  const ModelShape& shape = reader.info().shape;
  const LayerReader layers(reader);
  Transformer model;
  model.width = static_cast<std::size_t>(shape.text_state);
  TransformerStack& decoder = model.decoder;
  decoder.heads = shape.text_heads;
  decoder.activation = Activation::kGeluTanh;
  decoder.embeddings = stacked({reader.matrix("decoder.token_embedding.weight")});
  decoder.round_embeddings = false;
  decoder.positions = stacked({reader.matrix("decoder.positional_embedding")});
  for (int i = 0; i < shape.text_layers; ++i) {
    decoder.layers.push_back(layers.layer("decoder.blocks." + std::to_string(i)));
  }
  decoder.final_norm = layers.norm("decoder.ln");
  model.projection.weight = decoder.embeddings;
  return model;
}

}  // namespace verbatim::whisper
