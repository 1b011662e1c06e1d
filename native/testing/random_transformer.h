#pragma once

#include <cmath>
#include <cstddef>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "transformer/transformer.h"

namespace verbatim::transformer {

// Shape of a decoder with random weights: Whisper's, without the encoder.
struct RandomDecoderShape {
  std::size_t layers = 2;
  std::size_t width = 32;
  std::size_t heads = 4;
  std::size_t inner = 64;
  std::size_t vocabulary = 70;
  std::size_t positions = 64;
  Activation activation = Activation::kGeluTanh;
  unsigned seed = 1;
};

// A model and the weights that it views.
class RandomDecoder {
 public:
  explicit RandomDecoder(const RandomDecoderShape& shape) : shape_(shape), random_(shape.seed) {
    model_.width = shape.width;
    TransformerStack& decoder = model_.decoder;
    decoder.heads = static_cast<int>(shape.heads);
    decoder.activation = shape.activation;
    decoder.round_embeddings = false;
    decoder.embeddings = matrix(shape.vocabulary, shape.width, 1.0f);
    decoder.positions = matrix(shape.positions, shape.width, 0.5f);
    for (std::size_t i = 0; i < shape.layers; ++i) add_layer();
    decoder.final_norm = norm();
    model_.projection.weight = decoder.embeddings;
  }
  RandomDecoder(const RandomDecoder&) = delete;
  RandomDecoder& operator=(const RandomDecoder&) = delete;

  const Transformer& model() const { return model_; }
  const RandomDecoderShape& shape() const { return shape_; }

  // Keys and values of one layer, as CrossCache::write() takes them.
  std::vector<float> source(std::size_t positions) { return normal(positions * 2 * shape_.width, 1.0f); }

 private:
  std::vector<float> normal(std::size_t size, float deviation) {
    std::normal_distribution<float> distribution(0.0f, deviation);
    std::vector<float> values(size);
    for (float& value : values) value = distribution(random_);
    return values;
  }

  MatrixView matrix(std::size_t rows, std::size_t columns, float deviation) {
    MatrixView view;
    view.rows = rows;
    view.columns = columns;
    view.data = std::as_bytes(std::span(storage_.emplace_back(normal(rows * columns, deviation))));
    return view;
  }

  Linear linear(std::size_t outputs, std::size_t inputs) {
    return {matrix(outputs, inputs, 1.0f / std::sqrt(static_cast<float>(inputs))), normal(outputs, 0.1f)};
  }

  LayerNorm norm() {
    LayerNorm result{normal(shape_.width, 0.1f), normal(shape_.width, 0.1f)};
    for (float& value : result.gamma) value += 1.0f;
    return result;
  }

  void add_layer() {
    const std::size_t width = shape_.width;
    TransformerLayer layer;
    layer.self_attention = {norm(), linear(3 * width, width), {}, linear(width, width), {}, {}};
    layer.cross_attention =
        Attention{norm(), linear(width, width), linear(2 * width, width), linear(width, width), {}, {}};
    layer.feed_forward = {norm(), linear(shape_.inner, width), std::nullopt, linear(width, shape_.inner)};
    model_.decoder.layers.push_back(std::move(layer));
  }

  RandomDecoderShape shape_;
  std::mt19937 random_;
  std::deque<std::vector<float>> storage_;
  Transformer model_;
};

}  // namespace verbatim::transformer
