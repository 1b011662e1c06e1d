#include "speech/whisper/encoder/reference_encoder.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace verbatim::test {
namespace {

// Row-major.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

std::vector<double> channel_sizes(const Matrix& x) {
  std::vector<double> sizes(x.columns);
  for (std::size_t i = 0; i < x.values.size(); ++i) sizes[i % x.columns] += x.values[i] * x.values[i];
  for (double& size : sizes) size = std::sqrt(size / static_cast<double>(x.rows));
  return sizes;
}

double gelu(double x) { return 0.5 * x * (1.0 + std::tanh(0.79788456080286535588 * x * (1.0 + 0.044715 * x * x))); }

class Reference {
 public:
  explicit Reference(const whisper::ModelReader& model, EncodingTrace* trace = nullptr)
      : model_(model), trace_(trace) {}

  Matrix linear(const Matrix& x, const std::string& name, bool biased = true) const {
    const std::vector<float> weight = model_.values(name + ".weight");
    const std::size_t outputs = weight.size() / x.columns;
    const std::vector<float> bias = biased ? model_.values(name + ".bias") : std::vector<float>(outputs, 0.0f);
    Matrix y(x.rows, outputs);
    for (std::size_t row = 0; row < x.rows; ++row) {
      for (std::size_t output = 0; output < outputs; ++output) {
        double sum = bias[output];
        const float* const w = weight.data() + output * x.columns;
        const double* const values = x.values.data() + row * x.columns;
        for (std::size_t i = 0; i < x.columns; ++i) sum += values[i] * w[i];
        y.at(row, output) = sum;
      }
    }
    return y;
  }

  Matrix norm(const Matrix& x, const std::string& name) const {
    const std::vector<float> gain = model_.values(name + ".weight");
    const std::vector<float> bias = model_.values(name + ".bias");
    Matrix y = x;
    for (std::size_t row = 0; row < x.rows; ++row) {
      double mean = 0.0;
      double variance = 0.0;
      for (std::size_t i = 0; i < x.columns; ++i) mean += x.at(row, i) / static_cast<double>(x.columns);
      for (std::size_t i = 0; i < x.columns; ++i) {
        variance += (x.at(row, i) - mean) * (x.at(row, i) - mean) / static_cast<double>(x.columns);
      }
      for (std::size_t i = 0; i < x.columns; ++i) {
        y.at(row, i) = (x.at(row, i) - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
      }
    }
    if (trace_) trace_->norms.push_back(channel_sizes(y));
    return y;
  }

  // GELU of a convolution over three frames, padded with zeros. x: [frames][inputs].
  Matrix convolution(const Matrix& x, const std::string& name, std::size_t stride) const {
    const std::vector<float> kernel = model_.values(name + ".weight");  // [outputs][inputs][3]
    const std::vector<float> bias = model_.values(name + ".bias");
    Matrix y(x.rows / stride, bias.size());
    for (std::size_t t = 0; t < y.rows; ++t) {
      for (std::size_t output = 0; output < y.columns; ++output) {
        double sum = bias[output];
        for (std::size_t k = 0; k < 3; ++k) {
          const std::size_t frame = t * stride + k;
          if (frame == 0 || frame > x.rows) continue;
          for (std::size_t input = 0; input < x.columns; ++input) {
            sum += x.at(frame - 1, input) * kernel[(output * x.columns + input) * 3 + k];
          }
        }
        y.at(t, output) = gelu(sum);
      }
    }
    return y;
  }

  Matrix attention(const Matrix& x, const std::string& name) const {
    const Matrix query = linear(x, name + ".query");
    const Matrix key = linear(x, name + ".key", false);
    const Matrix value = linear(x, name + ".value");
    const auto heads = static_cast<std::size_t>(model_.info().shape.audio_heads);
    const std::size_t width = x.columns / heads;
    Matrix y(x.rows, x.columns);
    std::vector<double> weights(x.rows);
    std::vector<double> entropies(heads);
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t i = 0; i < x.rows; ++i) {
        double largest = -1e300;
        for (std::size_t j = 0; j < x.rows; ++j) {
          double score = 0.0;
          for (std::size_t c = head * width; c < (head + 1) * width; ++c) score += query.at(i, c) * key.at(j, c);
          weights[j] = score / std::sqrt(static_cast<double>(width));
          largest = std::max(largest, weights[j]);
        }
        double sum = 0.0;
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        for (const double weight : weights) {
          if (weight > 0.0) entropies[head] -= weight / sum * std::log(weight / sum) / static_cast<double>(x.rows);
        }
        for (std::size_t c = head * width; c < (head + 1) * width; ++c) {
          for (std::size_t j = 0; j < x.rows; ++j) y.at(i, c) += weights[j] / sum * value.at(j, c);
        }
      }
    }
    if (trace_) {
      trace_->attentions.push_back(channel_sizes(y));
      trace_->entropies.push_back(entropies);
    }
    return linear(y, name + ".out");
  }

  // GELU between the products of a feed-forward block.
  void activate(Matrix& inner) const {
    for (double& value : inner.values) value = gelu(value);
    if (trace_) trace_->inners.push_back(channel_sizes(inner));
  }

 private:
  const whisper::ModelReader& model_;
  EncodingTrace* const trace_;
};

void add(Matrix& to, const Matrix& what) {
  for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += what.values[i];
}

}  // namespace

std::vector<double> reference_encoding(const whisper::ModelReader& model, std::span<const float> mel, int positions,
                                       EncodingTrace* trace) {
  const ModelShape& shape = model.info().shape;
  const Reference reference(model, trace);
  Matrix x(2 * static_cast<std::size_t>(positions), static_cast<std::size_t>(shape.mels));
  for (std::size_t frame = 0; frame < x.rows; ++frame) {
    for (std::size_t band = 0; band < x.columns; ++band) x.at(frame, band) = mel[band * x.rows + frame];
  }
  x = reference.convolution(x, "encoder.conv1", 1);
  x = reference.convolution(x, "encoder.conv2", 2);
  const std::vector<float> places = model.values("encoder.positional_embedding");
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += places[i];
  for (int layer = 0; layer < shape.audio_layers; ++layer) {
    const std::string name = "encoder.blocks." + std::to_string(layer);
    add(x, reference.attention(reference.norm(x, name + ".attn_ln"), name + ".attn"));
    Matrix inner = reference.linear(reference.norm(x, name + ".mlp_ln"), name + ".mlp.0");
    reference.activate(inner);
    add(x, reference.linear(inner, name + ".mlp.2"));
  }
  return reference.norm(x, "encoder.ln_post").values;
}

std::vector<std::vector<double>> reference_cross(const whisper::ModelReader& model, std::span<const double> encoding) {
  const ModelShape& shape = model.info().shape;
  const Reference reference(model);
  Matrix x(encoding.size() / static_cast<std::size_t>(shape.audio_state), static_cast<std::size_t>(shape.audio_state));
  x.values.assign(encoding.begin(), encoding.end());
  std::vector<std::vector<double>> layers;
  for (int layer = 0; layer < shape.text_layers; ++layer) {
    const std::string name = "decoder.blocks." + std::to_string(layer) + ".cross_attn";
    const Matrix keys = reference.linear(x, name + ".key", false);
    const Matrix values = reference.linear(x, name + ".value");
    Matrix both(x.rows, 2 * x.columns);
    for (std::size_t row = 0; row < x.rows; ++row) {
      for (std::size_t c = 0; c < x.columns; ++c) {
        both.at(row, c) = keys.at(row, c);
        both.at(row, x.columns + c) = values.at(row, c);
      }
    }
    layers.push_back(both.values);
  }
  return layers;
}

}  // namespace verbatim::test
