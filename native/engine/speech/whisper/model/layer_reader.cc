#include "speech/whisper/model/layer_reader.h"

#include <cstddef>
#include <span>
#include <utility>

namespace verbatim::whisper {

using namespace transformer;

LayerNorm LayerReader::norm(const std::string& name) const {
  return {.gamma = file_.values(name + ".weight"), .beta = file_.values(name + ".bias")};
}

Linear LayerReader::linear(const std::string& name) const {
  return {.weight = stacked({file_.matrix(name + ".weight")}), .bias = file_.values(name + ".bias")};
}

Linear LayerReader::key_value(const std::string& name) const {
  Linear linear;
  linear.weight = stacked({file_.matrix(name + ".key.weight"), file_.matrix(name + ".value.weight")});
  const std::vector<float> value = file_.values(name + ".value.bias");
  linear.bias.assign(value.size(), 0.0f);
  linear.bias.insert(linear.bias.end(), value.begin(), value.end());
  return linear;
}

Attention LayerReader::self_attention(const std::string& name) const {
  Attention attention;
  attention.norm = norm(name + "_ln");
  attention.query.weight = stacked(
      {file_.matrix(name + ".query.weight"), file_.matrix(name + ".key.weight"), file_.matrix(name + ".value.weight")});
  std::vector<float>& bias = attention.query.bias;
  bias = file_.values(name + ".query.bias");
  // The key projection has no bias.
  bias.resize(2 * bias.size(), 0.0f);
  const std::vector<float> value = file_.values(name + ".value.bias");
  bias.insert(bias.end(), value.begin(), value.end());
  attention.output = linear(name + ".out");
  return attention;
}

Attention LayerReader::cross_attention(const std::string& name) const {
  Attention attention;
  attention.norm = norm(name + "_ln");
  attention.query = linear(name + ".query");
  attention.output = linear(name + ".out");
  return attention;
}

FeedForward LayerReader::feed_forward(const std::string& name) const {
  FeedForward block;
  block.norm = norm(name + "_ln");
  block.up = linear(name + ".0");
  block.down = linear(name + ".2");
  return block;
}

}  // namespace verbatim::whisper
