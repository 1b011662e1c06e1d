#pragma once

#include <vector>

#include "transformer/transformer.h"

namespace verbatim::transformer {

// Every linear layer of a model, in the order of use.
inline std::vector<const Linear*> linears(const Transformer& model) {
  std::vector<const Linear*> all;
  const auto add_attention = [&](const Attention& attention) {
    all.push_back(&attention.query);
    if (!attention.key_value.weight.empty()) all.push_back(&attention.key_value);
    all.push_back(&attention.output);
  };
  for (const TransformerStack* stack : {&model.encoder, &model.decoder}) {
    for (const TransformerLayer& layer : stack->layers) {
      add_attention(layer.self_attention);
      if (layer.cross_attention) add_attention(*layer.cross_attention);
      all.push_back(&layer.feed_forward.up);
      if (layer.feed_forward.gate) all.push_back(&*layer.feed_forward.gate);
      all.push_back(&layer.feed_forward.down);
    }
  }
  all.push_back(&model.projection);
  return all;
}

}  // namespace verbatim::transformer
