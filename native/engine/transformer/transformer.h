#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "transformer/matrix_view.h"

// An encoder-decoder transformer: hyperparameters and views of the weights. The reader of the file has checked every
// shape. Executors need nothing else.
namespace verbatim::transformer {

// The values are those of CTranslate2's files.
enum class Activation { kRelu = 0, kGeluTanh = 1, kSwish = 2, kGelu = 3, kGeluSigmoid = 4, kTanh = 5, kSigmoid = 6 };

struct Linear {
  MatrixView weight;        // [out, in]
  std::vector<float> bias;  // [out] or empty
};

struct LayerNorm {
  std::vector<float> gamma;
  std::vector<float> beta;  // empty: root mean square norm
  float epsilon = 1e-5f;
};

struct Attention {
  LayerNorm norm;
  // Self-attention: query, key and value stacked [3d, d]. Cross-attention: query only [d, d].
  Linear query;
  // Cross-attention: key and value stacked [2d, d].
  Linear key_value;
  Linear output;
  // Relative positions: [2 * max_distance + 1, d_head], or empty.
  MatrixView relative_keys;
  MatrixView relative_values;
};

struct FeedForward {
  LayerNorm norm;
  Linear up;
  // Gated variants: activation(up(x)) * gate(x).
  std::optional<Linear> gate;
  Linear down;
};

struct TransformerLayer {
  Attention self_attention;
  std::optional<Attention> cross_attention;
  FeedForward feed_forward;
};

struct TransformerStack {
  int heads = 0;
  bool pre_norm = true;
  Activation activation = Activation::kRelu;
  MatrixView embeddings;  // [vocabulary, d]
  float embeddings_scale = 1.0f;
  // Whether embeddings are rounded to the type of computation, as in CTranslate2, or used as stored.
  bool round_embeddings = true;
  // Stored position rows [positions, d]. Empty: generated, or none with relative positions.
  MatrixView positions;
  bool generated_positions = false;
  std::optional<LayerNorm> embeddings_norm;
  std::vector<TransformerLayer> layers;
  std::optional<LayerNorm> final_norm;
};

struct Transformer {
  std::size_t width = 0;  // d
  TransformerStack encoder;
  TransformerStack decoder;
  Linear projection;  // [target vocabulary, d]
  // Multiplies the hidden state before the projection.
  float output_scale = 1.0f;
  bool start_from_zero_embedding = false;
  // The alignment is the cross-attention of this decoder layer's heads, so many from head 0 on.
  std::size_t alignment_layer = 0;
  int alignment_heads = 1;
  // False in binary versions before 5: int8 activations are truncated instead of rounded.
  bool round_before_cast = true;
};

}  // namespace verbatim::transformer
