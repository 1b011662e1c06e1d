#pragma once

#include <string>
#include <vector>

#include "speech/whisper/model/model_reader.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {

// Reads layers of the file as views of its tensors. `name`: what their names in the file begin with. The file must
// outlive what it makes. Throws EngineError kInternalError for a tensor that the file does not have.
class LayerReader {
 public:
  explicit LayerReader(const ModelReader& file) : file_(file) {}

  transformer::LayerNorm norm(const std::string& name) const;
  transformer::Linear linear(const std::string& name) const;
  // Keys and values of the encoder's output, stacked; keys have no bias.
  transformer::Linear key_value(const std::string& name) const;
  transformer::Attention self_attention(const std::string& name) const;
  transformer::Attention cross_attention(const std::string& name) const;
  transformer::FeedForward feed_forward(const std::string& name) const;

 private:
  const ModelReader& file_;
};

}  // namespace verbatim::whisper
