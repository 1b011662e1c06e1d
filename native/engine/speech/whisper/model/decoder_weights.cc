#include "speech/whisper/model/decoder_weights.h"

#include <string>

#include "speech/whisper/model/layer_reader.h"

namespace verbatim::whisper {

using namespace transformer;

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
    const std::string name = "decoder.blocks." + std::to_string(i);
    decoder.layers.push_back({.self_attention = layers.self_attention(name + ".attn"),
                              .cross_attention = layers.cross_attention(name + ".cross_attn"),
                              .feed_forward = layers.feed_forward(name + ".mlp")});
  }
  decoder.final_norm = layers.norm("decoder.ln");
  model.projection.weight = decoder.embeddings;
  return model;
}

}  // namespace verbatim::whisper
