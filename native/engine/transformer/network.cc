#include "transformer/network.h"

namespace verbatim::transformer {
namespace {

// Normalizes before a block (pre-norm) or after its residual sum (post-norm).
class Block {
 public:
  Block(NetworkOps& ops, const TransformerStack& stack) : ops_(ops), stack_(stack) {}

  ggml_tensor* enter(ggml_tensor* x, const LayerNorm& norm) const { return stack_.pre_norm ? ops_.norm(x, norm) : x; }
  ggml_tensor* leave(ggml_tensor* x, const LayerNorm& norm) const { return stack_.pre_norm ? x : ops_.norm(x, norm); }

  ggml_tensor* feed_forward(ggml_tensor* x, const FeedForward& weights) const {
    ggml_tensor* h = enter(x, weights.norm);
    ggml_tensor* gate = weights.gate ? ops_.linear(h, *weights.gate, std::nullopt, nullptr, nullptr) : nullptr;
    h = ops_.linear(h, weights.up, stack_.activation, gate, nullptr);
    return leave(ops_.linear(h, weights.down, std::nullopt, nullptr, x), weights.norm);
  }

 private:
  NetworkOps& ops_;
  const TransformerStack& stack_;
};

ggml_tensor* find_norm(NetworkOps& ops, ggml_tensor* x, const std::optional<LayerNorm>& norm) {
  return norm ? ops.norm(x, *norm) : x;
}

}  // namespace

void build_encoder(NetworkOps& ops, EncoderOps& encoder, const Transformer& model, ggml_tensor* x) {
  const TransformerStack& stack = model.encoder;
  const Block block(ops, stack);
  x = find_norm(ops, x, stack.embeddings_norm);
  for (const TransformerLayer& layer : stack.layers) {
    const Attention& self = layer.self_attention;
    ggml_tensor* qkv = ops.linear(block.enter(x, self.norm), self.query, std::nullopt, nullptr, nullptr);
    ggml_tensor* context = encoder.encoder_attention(qkv, self);
    x = block.leave(ops.linear(context, self.output, std::nullopt, nullptr, x), self.norm);
    x = block.feed_forward(x, layer.feed_forward);
  }
  x = find_norm(ops, x, stack.final_norm);
  for (std::size_t i = 0; i < model.decoder.layers.size(); ++i) {
    const Linear& key_value = model.decoder.layers[i].cross_attention->key_value;
    encoder.keep_cross(ops.linear(x, key_value, std::nullopt, nullptr, nullptr), i);
  }
}

ggml_tensor* build_decoder(NetworkOps& ops, DecoderOps& decoder, const Transformer& model, ggml_tensor* x) {
  const TransformerStack& stack = model.decoder;
  const Block block(ops, stack);
  x = find_norm(ops, x, stack.embeddings_norm);
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const Attention& self = stack.layers[i].self_attention;
    const Attention& cross = *stack.layers[i].cross_attention;
    ggml_tensor* qkv = ops.linear(block.enter(x, self.norm), self.query, std::nullopt, nullptr, nullptr);
    ggml_tensor* context = decoder.decoder_attention(qkv, self, i);
    x = block.leave(ops.linear(context, self.output, std::nullopt, nullptr, x), self.norm);
    ggml_tensor* query = ops.linear(block.enter(x, cross.norm), cross.query, std::nullopt, nullptr, nullptr);
    context = decoder.cross_attention(query, i);
    x = block.leave(ops.linear(context, cross.output, std::nullopt, nullptr, x), cross.norm);
    x = block.feed_forward(x, stack.layers[i].feed_forward);
  }
  x = find_norm(ops, decoder.wanted_rows(x), stack.final_norm);
  if (model.output_scale != 1.0f) x = ops.scale(x, model.output_scale);
  return ops.linear(x, model.projection, std::nullopt, nullptr, nullptr);
}

}  // namespace verbatim::transformer
