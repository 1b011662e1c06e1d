#include "speech/parakeet/encoder_weights.h"

#include <cmath>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "error.h"
#include "transformer/cpu/row_multiplier.h"

namespace verbatim::parakeet {
namespace {

using namespace transformer;

constexpr std::size_t kTaps = 9;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

std::size_t most_positions(const ModelShape& shape) { return size_of((shape.audio_context + 7) / 8); }

AttentionShape attention_shape(const ModelShape& shape) { return {size_of(shape.state), size_of(shape.heads)}; }

// [rows, columns] to [columns, rows].
std::vector<float> transposed(const std::vector<float>& values, std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  std::vector<float> turned(values.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) turned[j * rows + i] = values[i * columns + j];
  }
  return turned;
}

// A view of a vector in memory; the vector must outlive it.
MatrixView view_of(const std::vector<float>& values, std::size_t rows) {
  MatrixView view;
  view.rows = rows;
  view.columns = values.size() / rows;
  view.data = std::as_bytes(std::span(values));
  return view;
}

MatrixView view_of_shape(std::size_t rows, std::size_t columns) {
  MatrixView view;
  view.rows = rows;
  view.columns = columns;
  return view;
}

// Half of the layer's result. Exact: a power of two.
Linear halved(Linear linear) {
  linear.weight.reader = [read = std::move(linear.weight.reader)](std::size_t row, std::span<float> out) {
    read(row, out);
    for (float& value : out) value *= 0.5f;
  };
  return linear;
}

// Sines and cosines of the distances from positions - 1 down to 1 - positions, [2 * positions - 1, state].
std::vector<float> distances(std::size_t positions, std::size_t state) {
  std::vector<float> values;
  values.reserve((2 * positions - 1) * state);
  const auto most = static_cast<std::int64_t>(positions);
  for (std::int64_t distance = most - 1; distance > -most; --distance) {
    for (std::size_t i = 0; i < state; i += 2) {
      const float frequency = std::exp(-(static_cast<float>(i) * std::log(10000.0f) / static_cast<float>(state)));
      const float angle = frequency * static_cast<float>(distance);
      values.push_back(std::sin(angle));
      values.push_back(std::cos(angle));
    }
  }
  return values;
}

// The distances are projected once, so their products may be slow: in int8 they are float32.
ProductFormat table_format(const ProductFormat& format) {
  return format.accelerator ? format : ProductFormat{ComputeType::kFloat32, nullptr};
}

// Reads the tensors by their names in the file and makes the encoder's weights of them.
class Loader {
 public:
  Loader(const ModelReader& reader, const ProductFormat& format, WeightMemory& memory)
      : reader_(reader),
        shape_(reader.info().shape),
        format_(format),
        memory_(memory),
        multiplier_(make_row_multiplier(table_format(format), kernels())) {
    const std::size_t state = size_of(shape_.state);
    const std::vector<float> all = distances(most_positions(shape_), state);
    const std::size_t row_bytes = multiplier_->row_bytes(state);
    distances_.resize(all.size() / state * row_bytes);
    for (std::size_t i = 0; i < all.size() / state; ++i) {
      multiplier_->write_operands(all.data() + i * state, state, distances_.data() + i * row_bytes);
    }
  }

  LayerWeights layer(int number) {
    const std::string name = "encoder.layers." + std::to_string(number);
    LayerWeights layer;
    layer.first = feed_forward(name, "1");
    layer.attention = attention(name);
    layer.positions = positions(name + ".self_attn.");
    layer.convolution = convolution(name);
    layer.second = feed_forward(name, "2");
    layer.norm = norm(name + ".norm_out");
    // Keeps the file and the packed weights from being in memory as a whole at the same time.
    reader_.drop_pages();
    return layer;
  }

  void subsampling(SubsamplingWeights& weights) {
    const std::string name = "encoder.pre_encode.";
    const std::size_t channels = size_of(shape_.subsampling_channels);
    const auto mix = [&](const std::string& convolution) {
      const std::vector<float> rows = reader_.values(name + convolution + ".weight");
      return pack_linear({view_of(rows, channels), reader_.values(name + convolution + ".bias")}, format_, memory_);
    };
    weights.first =
        PackedMatrix(view_of(reader_.values(name + "conv.0.weight"), channels), ComputeType::kFloat32, memory_);
    weights.first_bias = reader_.values(name + "conv.0.bias");
    weights.second = transposed(reader_.values(name + "conv.2.weight"), channels);
    weights.second_bias = reader_.values(name + "conv.2.bias");
    weights.second_mix = mix("conv.3");
    weights.third = transposed(reader_.values(name + "conv.5.weight"), channels);
    weights.third_bias = reader_.values(name + "conv.5.bias");
    weights.third_mix = mix("conv.6");
    const std::vector<float> out = channels_last(reader_.values(name + "out.weight"));
    weights.out =
        pack_linear({view_of(out, size_of(shape_.state)), reader_.values(name + "out.bias")}, format_, memory_);
  }

 private:
  // Parakeet's layers have no biases.
  Linear linear(const std::string& name) const { return {stacked({reader_.matrix(name + ".weight")}), {}}; }
  LayerNorm norm(const std::string& name) const {
    return {.gamma = reader_.values(name + ".weight"), .beta = reader_.values(name + ".bias")};
  }
  BalancedLinears behind(const LayerNorm& norm, const Linear& linear) {
    const Linear* const only[] = {&linear};
    return pack_behind_norm(norm, only, format_, memory_);
  }

  FeedForwardLayer feed_forward(const std::string& layer, const std::string& number) {
    const std::string name = layer + ".feed_forward" + number;
    return {.up = behind(norm(layer + ".norm_feed_forward" + number), linear(name + ".linear1")),
            .down = pack_linear(halved(linear(name + ".linear2")), format_, memory_)};
  }

  AttentionLayer attention(const std::string& layer) {
    const std::string name = layer + ".self_attn.linear_";
    const Linear qkv{stacked({reader_.matrix(name + "q.weight"), reader_.matrix(name + "k.weight"),
                              reader_.matrix(name + "v.weight")}),
                     {}};
    return {.qkv = behind(norm(layer + ".norm_self_att"), qkv),
            .out = pack_attention_output(linear(name + "out"), size_of(shape_.heads), format_, memory_)};
  }

  RelativePositions positions(const std::string& name) {
    const std::size_t state = size_of(shape_.state);
    const Linear projection = linear(name + "linear_pos");
    const ProductFormat format = table_format(format_);
    WeightMemory temporary(LinearWeight::memory_bytes(projection.weight, format));
    const LinearWeight weight(projection.weight, format, temporary);
    const std::size_t rows = 2 * most_positions(shape_) - 1;
    std::vector<float> projected(rows * state);
    multiplier_->multiply(
        {.weight = weight, .rows = rows, .operands = distances_.data(), .epilogue = {}, .y = projected.data()});
    RelativePositions positions = pack_relative_positions(projected, attention_shape(shape_), format_, memory_);
    positions.content_bias = reader_.values(name + "pos_bias_u");
    positions.position_bias = reader_.values(name + "pos_bias_v");
    return positions;
  }

  ConvolutionWeights convolution(const std::string& layer) {
    const std::string name = layer + ".conv.";
    const std::size_t state = size_of(shape_.state);
    ConvolutionWeights weights;
    weights.in = behind(norm(layer + ".norm_conv"), linear(name + "pointwise_conv1"));
    weights.out = pack_linear(linear(name + "pointwise_conv2"), format_, memory_);
    weights.kernel = transposed(reader_.values(name + "depthwise_conv.weight"), state);
    const std::vector<float> mean = reader_.values(name + "batch_norm.running_mean");
    const std::vector<float> variance = reader_.values(name + "batch_norm.running_var");
    const LayerNorm batch = norm(name + "batch_norm");
    weights.bias = batch.beta;
    for (std::size_t channel = 0; channel < state; ++channel) {
      const float gain = batch.gamma[channel] / std::sqrt(variance[channel]);
      weights.bias[channel] -= mean[channel] * gain;
      for (std::size_t i = channel; i < weights.kernel.size(); i += state) weights.kernel[i] *= gain;
    }
    return weights;
  }

  // Reorders the inputs of a row from [channels][bands] to [bands][channels].
  std::vector<float> channels_last(const std::vector<float>& rows) const {
    const std::size_t features = size_of(shape_.features());
    std::vector<float> turned;
    turned.reserve(rows.size());
    for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(features)) {
      const std::vector<float> one(row, row + static_cast<std::ptrdiff_t>(features));
      const std::vector<float> inputs = transposed(one, size_of(shape_.subsampling_channels));
      turned.insert(turned.end(), inputs.begin(), inputs.end());
    }
    return turned;
  }

  const ModelReader& reader_;
  const ModelShape& shape_;
  const ProductFormat& format_;
  WeightMemory& memory_;
  const std::unique_ptr<RowMultiplier> multiplier_;
  std::vector<std::byte> distances_;
};

std::size_t memory_bytes(const ModelShape& shape, const ProductFormat& format) {
  const auto bytes = [&format](std::int64_t outputs, std::int64_t inputs) {
    return packed_linear_bytes(view_of_shape(size_of(outputs), size_of(inputs)), format);
  };
  const std::int64_t d = shape.state;
  const std::int64_t channels = shape.subsampling_channels;
  const std::size_t norms = 4 * WeightMemory::float_bytes(size_of(d));
  const std::size_t layer = norms + 2 * (bytes(4 * d, d) + bytes(d, 4 * d)) + bytes(3 * d, d) +
                            attention_output_bytes(attention_shape(shape), format) +
                            relative_positions_bytes(most_positions(shape), attention_shape(shape), format) +
                            bytes(2 * d, d) + bytes(d, d);
  return PackedMatrix::bytes(view_of_shape(size_of(channels), kTaps), ComputeType::kFloat32) +
         2 * bytes(channels, channels) + bytes(d, shape.features()) + size_of(shape.layers) * layer;
}

std::size_t bytes_of(const std::vector<float>& values) { return values.size() * sizeof(float); }
// The rest is in the WeightMemory.
std::size_t bytes_of(const PackedLinear& linear) { return linear.weight.own_bytes(); }
std::size_t bytes_of(const BalancedLinears& balanced) { return bytes_of(balanced.linears.front()); }
std::size_t bytes_of(const FeedForwardLayer& layer) { return bytes_of(layer.up) + bytes_of(layer.down); }
std::size_t bytes_of(const AttentionLayer& layer) {
  std::size_t bytes = bytes_of(layer.qkv);
  for (const LinearWeight& part : layer.out.parts) bytes += part.own_bytes();
  return bytes;
}
std::size_t bytes_of(const LayerWeights& layer) {
  const ConvolutionWeights& convolution = layer.convolution;
  return bytes_of(layer.first) + bytes_of(layer.second) + bytes_of(layer.attention) + layer.positions.operands.size() +
         bytes_of(layer.positions.content_bias) + bytes_of(layer.positions.position_bias) + bytes_of(convolution.in) +
         bytes_of(convolution.out) + bytes_of(convolution.kernel) + bytes_of(convolution.bias) +
         bytes_of(layer.norm.gamma) + bytes_of(layer.norm.beta);
}

}  // namespace

EncoderWeights::EncoderWeights(const ModelReader& reader, const ProductFormat& format) try
    : format_(format), memory_(memory_bytes(reader.info().shape, format)) {
  Loader loader(reader, format_, memory_);
  loader.subsampling(subsampling);
  for (int i = 0; i < reader.info().shape.layers; ++i) layers.push_back(loader.layer(i));
} catch (const EngineError&) {
  throw;
} catch (const std::bad_alloc&) {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder's weights");
} catch (const std::exception& error) {
  throw EngineError(ErrorCode::kInternalError, std::string("the encoder's weights: ") + error.what());
}

std::size_t EncoderWeights::bytes() const noexcept {
  std::size_t sum =
      memory_.size() + bytes_of(subsampling.second_mix) + bytes_of(subsampling.third_mix) + bytes_of(subsampling.out);
  for (const LayerWeights& layer : layers) sum += bytes_of(layer);
  return sum;
}

}  // namespace verbatim::parakeet
