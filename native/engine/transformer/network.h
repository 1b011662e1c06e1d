#pragma once

#include <cstddef>
#include <optional>

#include "transformer/transformer.h"

struct ggml_tensor;

// The layers of a transformer as a ggml graph, shared by all kinds of devices. Activations are float32[width, rows].
namespace verbatim::transformer {

// The operations that differ between devices. Each adds nodes to a graph and returns the result.
class NetworkOps {
 public:
  virtual ~NetworkOps() = default;

  // activation(x * weight + bias) * gate + residual; gate and residual may be null.
  virtual ggml_tensor* linear(ggml_tensor* x, const Linear& weights, std::optional<Activation> activation,
                              ggml_tensor* gate, ggml_tensor* residual) = 0;
  virtual ggml_tensor* norm(ggml_tensor* x, const LayerNorm& weights) = 0;
  virtual ggml_tensor* scale(ggml_tensor* x, float factor) = 0;
};

// The operations of encoders.
class EncoderOps {
 public:
  virtual ~EncoderOps() = default;

  // qkv[3 * width, rows] of whole sentences -> [width, rows].
  virtual ggml_tensor* encoder_attention(ggml_tensor* qkv, const Attention& weights) = 0;
  // Keeps keys and values [2 * width, rows] of the encoded batch for cross_attention.
  virtual void keep_cross(ggml_tensor* key_value, std::size_t layer) = 0;
};

// The operations of decoders.
class DecoderOps {
 public:
  virtual ~DecoderOps() = default;

  // qkv of one new position per row, against that row's cache -> [width, rows].
  virtual ggml_tensor* decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) = 0;
  // query[width, rows] against the encoded sentence of each row -> [width, rows].
  virtual ggml_tensor* cross_attention(ggml_tensor* query, std::size_t layer) = 0;
  // The rows whose logits are wanted; later layers compute only these.
  virtual ggml_tensor* wanted_rows(ggml_tensor* x) = 0;
};

// Embedded source tokens [width, rows] -> keys and values for the decoder, passed to keep_cross.
void build_encoder(NetworkOps& ops, EncoderOps& encoder, const Transformer& model, ggml_tensor* x);

// Embedded tokens [width, rows], one new position per row -> logits [target vocabulary, wanted rows].
ggml_tensor* build_decoder(NetworkOps& ops, DecoderOps& decoder, const Transformer& model, ggml_tensor* x);

}  // namespace verbatim::transformer
