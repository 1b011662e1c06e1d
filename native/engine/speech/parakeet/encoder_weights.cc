#include "speech/parakeet/encoder_weights.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "error.h"

namespace verbatim::parakeet {
namespace {

using accelerator::PackedWeight;

constexpr std::size_t kTaps = 9;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

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
transformer::MatrixView view_of(const std::vector<float>& values, std::size_t rows) {
  transformer::MatrixView view;
  view.rows = rows;
  view.columns = values.size() / rows;
  view.data = std::as_bytes(std::span(values));
  return view;
}

// Sines and cosines of the distances from positions - 1 down to 1 - positions, [2 * positions - 1, state].
std::vector<float> distances(std::int64_t positions, std::size_t state) {
  std::vector<float> values;
  values.reserve(size_of(2 * positions - 1) * state);
  for (std::int64_t distance = positions - 1; distance > -positions; --distance) {
    for (std::size_t i = 0; i < state; i += 2) {
      const float frequency = std::exp(-(static_cast<float>(i) * std::log(10000.0f) / static_cast<float>(state)));
      const float angle = frequency * static_cast<float>(distance);
      values.push_back(std::sin(angle));
      values.push_back(std::cos(angle));
    }
  }
  return values;
}

// Reads the tensors by their names in the file and makes the encoder's weights of them.
class Loader {
 public:
  Loader(const ModelReader& reader, const std::shared_ptr<accelerator::WeightStore>& store)
      : reader_(reader),
        shape_(reader.info().shape),
        store_(*store),
        multiplier_(store, 1),
        positions_((shape_.audio_context + 7) / 8) {
    const std::vector<float> all = distances(positions_, size_of(shape_.state));
    distances_.resize(all.size() * accelerator::operand_size(&store_));
    accelerator::to_operands(store_, all.data(), all.size(), distances_.data());
  }

  LayerWeights layer(int number) {
    const std::string name = "encoder.layers." + std::to_string(number);
    LayerWeights layer;
    layer.first = feed_forward(name, "1");
    layer.attention = attention(name);
    layer.convolution = convolution(name);
    layer.second = feed_forward(name, "2");
    layer.norm = norm(name + ".norm_out");
    // Keeps the file and the packed weights from being in memory as a whole at the same time.
    reader_.drop_pages();
    return layer;
  }

  void subsampling(SubsamplingWeights& weights, transformer::WeightMemory& memory) {
    const std::string name = "encoder.pre_encode.";
    const std::size_t channels = size_of(shape_.subsampling_channels);
    weights.first = transformer::PackedMatrix(view_of(reader_.values(name + "conv.0.weight"), channels),
                                              transformer::ComputeType::kFloat32, memory);
    weights.first_bias = reader_.values(name + "conv.0.bias");
    weights.second = transposed(reader_.values(name + "conv.2.weight"), channels);
    weights.second_bias = reader_.values(name + "conv.2.bias");
    weights.second_mix = packed(reader_.values(name + "conv.3.weight"), channels);
    weights.second_mix_bias = reader_.values(name + "conv.3.bias");
    weights.third = transposed(reader_.values(name + "conv.5.weight"), channels);
    weights.third_bias = reader_.values(name + "conv.5.bias");
    weights.third_mix = packed(reader_.values(name + "conv.6.weight"), channels);
    weights.third_mix_bias = reader_.values(name + "conv.6.bias");
    weights.out = packed(channels_last(reader_.values(name + "out.weight")), size_of(shape_.state));
    weights.out_bias = reader_.values(name + "out.bias");
  }

 private:
  PackedWeight packed(const std::vector<float>& rows, std::size_t outputs) const {
    return {store_, static_cast<std::int64_t>(rows.size() / outputs), static_cast<std::int64_t>(outputs), rows.data()};
  }
  PackedWeight linear(const std::string& name) const {
    return packed(reader_.values(name + ".weight"), reader_.matrix(name + ".weight").rows);
  }
  // Exact: a power of two.
  PackedWeight halved(const std::string& name) const {
    std::vector<float> rows = reader_.values(name + ".weight");
    for (float& value : rows) value *= 0.5f;
    return packed(rows, reader_.matrix(name + ".weight").rows);
  }
  NormWeights norm(const std::string& name) const {
    return {reader_.values(name + ".weight"), reader_.values(name + ".bias")};
  }
  FeedForwardWeights feed_forward(const std::string& layer, const std::string& number) const {
    const std::string name = layer + ".feed_forward" + number;
    return {norm(layer + ".norm_feed_forward" + number), linear(name + ".linear1"), halved(name + ".linear2")};
  }

  AttentionWeights attention(const std::string& layer) {
    const std::string name = layer + ".self_attn.";
    std::vector<float> qkv;
    for (const char* projection : {"linear_q", "linear_k", "linear_v"}) {
      const std::vector<float> rows = reader_.values(name + projection + ".weight");
      qkv.insert(qkv.end(), rows.begin(), rows.end());
    }
    AttentionWeights weights;
    weights.norm = norm(layer + ".norm_self_att");
    weights.qkv = packed(qkv, 3 * size_of(shape_.state));
    weights.out = linear(name + "linear_out");
    weights.content_bias = reader_.values(name + "pos_bias_u");
    weights.position_bias = reader_.values(name + "pos_bias_v");
    weights.table = table(linear(name + "linear_pos"));
    return weights;
  }

  PositionTable table(const PackedWeight& projection) {
    const std::size_t rows = size_of(2 * positions_ - 1);
    const std::size_t state = size_of(shape_.state);
    const std::size_t width = state / size_of(shape_.heads);
    const std::size_t operand = accelerator::operand_size(&store_);
    std::vector<float> projected(rows * state);
    multiplier_.multiply(
        {.weight = projection, .rows = 2 * positions_ - 1, .left = distances_.data(), .result = projected.data()});
    PositionTable table{positions_, std::vector<std::byte>(projected.size() * operand)};
    std::byte* out = table.operands.data();
    for (std::size_t head = 0; head < state; head += width) {
      for (std::size_t row = 0; row < rows; ++row, out += width * operand) {
        accelerator::to_operands(store_, projected.data() + row * state + head, width, out);
      }
    }
    return table;
  }

  ConvolutionWeights convolution(const std::string& layer) const {
    const std::string name = layer + ".conv.";
    const std::size_t state = size_of(shape_.state);
    ConvolutionWeights weights;
    weights.norm = norm(layer + ".norm_conv");
    weights.in = linear(name + "pointwise_conv1");
    weights.out = linear(name + "pointwise_conv2");
    weights.kernel = transposed(reader_.values(name + "depthwise_conv.weight"), state);
    const std::vector<float> mean = reader_.values(name + "batch_norm.running_mean");
    const std::vector<float> variance = reader_.values(name + "batch_norm.running_var");
    const NormWeights batch = norm(name + "batch_norm");
    weights.bias = batch.bias;
    for (std::size_t channel = 0; channel < state; ++channel) {
      const float gain = batch.gain[channel] / std::sqrt(variance[channel]);
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
  const accelerator::WeightStore& store_;
  accelerator::Multiplier multiplier_;
  std::int64_t positions_;
  std::vector<std::byte> distances_;
};

std::size_t first_kernel_bytes(const ModelShape& shape) {
  transformer::MatrixView view;
  view.rows = size_of(shape.subsampling_channels);
  view.columns = kTaps;
  return transformer::PackedMatrix::bytes(view, transformer::ComputeType::kFloat32);
}

std::size_t bytes_of(const NormWeights& norm) { return 2 * sizeof(float) * norm.gain.size(); }
std::size_t bytes_of(const FeedForwardWeights& weights) {
  return bytes_of(weights.norm) + weights.up.bytes() + weights.down.bytes();
}
std::size_t bytes_of(const LayerWeights& layer) {
  const AttentionWeights& attention = layer.attention;
  const ConvolutionWeights& convolution = layer.convolution;
  return bytes_of(layer.first) + bytes_of(layer.second) + bytes_of(layer.norm) + bytes_of(attention.norm) +
         attention.qkv.bytes() + attention.out.bytes() + attention.table.operands.size() + bytes_of(convolution.norm) +
         convolution.in.bytes() + convolution.out.bytes() +
         sizeof(float) * (2 * attention.content_bias.size() + convolution.kernel.size() + convolution.bias.size());
}

}  // namespace

EncoderWeights::EncoderWeights(const ModelReader& reader, const std::shared_ptr<accelerator::WeightStore>& store) try
    : memory_(first_kernel_bytes(reader.info().shape)) {
  Loader loader(reader, store);
  loader.subsampling(subsampling, memory_);
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
      memory_.size() + subsampling.second_mix.bytes() + subsampling.third_mix.bytes() + subsampling.out.bytes();
  for (const LayerWeights& layer : layers) sum += bytes_of(layer);
  return sum;
}

}  // namespace verbatim::parakeet
