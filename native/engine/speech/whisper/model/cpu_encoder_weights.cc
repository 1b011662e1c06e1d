#include "speech/whisper/model/cpu_encoder_weights.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "error.h"
#include "speech/whisper/model/layer_reader.h"
#include "transformer/cpu/stream_sizes.h"
#include "transformer/transformer.h"

namespace verbatim::whisper {
namespace {

using namespace transformer;

// A kernel, [outputs][inputs][frames] in the file, as [outputs, frames * inputs].
Linear convolution(const ModelReader& reader, const std::string& name) {
  const StoredMatrix stored = reader.matrix(name + ".weight");
  Linear linear;
  linear.bias = reader.values(name + ".bias");
  const std::size_t inputs = stored.rows / linear.bias.size();
  const std::size_t frames = stored.columns;
  linear.weight.rows = linear.bias.size();
  linear.weight.columns = inputs * frames;
  const StoredMatrix by_output{stored.type, linear.bias.size(), inputs * frames, stored.data};
  linear.weight.reader = [by_output, inputs, frames](std::size_t row, std::span<float> out) {
    std::vector<float> values(out.size());
    by_output.read_row(row, values);
    for (std::size_t input = 0; input < inputs; ++input) {
      for (std::size_t frame = 0; frame < frames; ++frame) out[frame * inputs + input] = values[input * frames + frame];
    }
  };
  return linear;
}

MatrixView matrix_of(std::int64_t rows, std::int64_t columns) {
  MatrixView view;
  view.rows = static_cast<std::size_t>(rows);
  view.columns = static_cast<std::size_t>(columns);
  return view;
}

std::size_t layer_bytes(const ModelShape& shape, const ProductFormat& format) {
  const std::int64_t d = shape.audio_state;
  const AttentionShape attention{static_cast<std::size_t>(d), static_cast<std::size_t>(shape.audio_heads)};
  const std::size_t norm = WeightMemory::float_bytes(static_cast<std::size_t>(d));
  const MatrixView down = matrix_of(d, 4 * d);
  const std::size_t outliers = format.type == ComputeType::kInt8 ? OutlierColumns::memory_bytes(down) : 0;
  return norm + packed_linear_bytes(matrix_of(3 * d, d), format) + attention_output_bytes(attention, format) + norm +
         packed_linear_bytes(matrix_of(4 * d, d), format) + outliers + packed_linear_bytes(down, format);
}

BalancedLinears behind(const LayerNorm& norm, const Linear& linear, const ProductFormat& format, WeightMemory& memory,
                       const StreamSizes& stream) {
  const Linear* const only[] = {&linear};
  return pack_behind_norm(norm, only, format, memory, stream.outliers());
}

// Multiplies columns, or rows from `first` on, by factors. `factors` must outlive the view.
MatrixView with_scaled_columns(MatrixView matrix, const std::vector<float>& factors) {
  MatrixView view;
  view.rows = matrix.rows;
  view.columns = matrix.columns;
  view.reader = [matrix = std::move(matrix), &factors](std::size_t row, std::span<float> out) {
    matrix.read_row(row, out);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] *= factors[k];
  };
  return view;
}

MatrixView with_divided_rows(MatrixView matrix, std::size_t first, const std::vector<float>& divisors) {
  MatrixView view;
  view.rows = matrix.rows;
  view.columns = matrix.columns;
  view.reader = [matrix = std::move(matrix), first, &divisors](std::size_t row, std::span<float> out) {
    matrix.read_row(row, out);
    if (row < first) return;
    for (float& value : out) value /= divisors[row - first];
  };
  return view;
}

// Attention's values are sums of rows of values, so that a factor of the output product's columns may be taken from
// the projection to values. `factors` must outlive the attention.
void move_factors_to_values(Attention& attention, const std::vector<float>& factors) {
  const std::size_t first = 2 * factors.size();
  attention.output.weight = with_scaled_columns(std::move(attention.output.weight), factors);
  attention.query.weight = with_divided_rows(std::move(attention.query.weight), first, factors);
  for (std::size_t k = 0; k < factors.size(); ++k) attention.query.bias[first + k] /= factors[k];
}

std::span<const float> copied(const std::vector<float>& values, WeightMemory& memory) {
  return memory.take_floats(values.size(), [&](std::span<float> out) { std::ranges::copy(values, out.begin()); });
}

// stream: what the layers before write, and then this one, too; nothing is added where the weights are packed already.
CpuEncoderLayer read_layer(const LayerReader& layers, const std::string& name, std::size_t heads,
                           const ProductFormat& format, WeightMemory& memory, StreamSizes& stream) {
  Attention attention = layers.self_attention(name + ".attn");
  const FeedForward block = layers.feed_forward(name + ".mlp");
  const StreamSizes before = stream;
  const bool is_int8 = format.type == ComputeType::kInt8;
  const bool is_balanced = is_int8 && !memory.is_filled();
  std::vector<float> factors;
  if (is_balanced) {
    stream.add(attention.output);
    factors = small_column_factors(attention.output.weight);
    move_factors_to_values(attention, factors);
  }
  CpuEncoderLayer layer;
  layer.attention.qkv = behind(attention.norm, attention.query, format, memory, before);
  layer.attention.out = pack_attention_output(attention.output, heads, format, memory);
  FeedForwardLayer& feed_forward = layer.feed_forward;
  feed_forward.up = behind(block.norm, block.up, format, memory, stream);
  if (is_int8) {
    feed_forward.down_outliers =
        OutlierColumns(block.down.weight, memory, [&] { return expected_sizes(block.norm, block.up); });
  }
  const Linear rest{.weight = feed_forward.down_outliers.rest(block.down.weight), .bias = block.down.bias};
  feed_forward.down = pack_linear(rest, format, memory);
  if (is_balanced) stream.add(block.down);
  return layer;
}

// Bytes outside of the WeightMemory.
std::size_t own_bytes(const BalancedLinears& balanced) {
  std::size_t bytes = 0;
  for (const PackedLinear& linear : balanced.linears) bytes += linear.weight.own_bytes();
  return bytes;
}
std::size_t own_bytes(const CpuEncoderLayer& layer) {
  std::size_t bytes =
      own_bytes(layer.attention.qkv) + own_bytes(layer.feed_forward.up) + layer.feed_forward.down.weight.own_bytes();
  for (const LinearWeight& part : layer.attention.out.parts) bytes += part.own_bytes();
  return bytes;
}

}  // namespace

std::size_t CpuEncoderWeights::memory_bytes(const ModelShape& shape, const ProductFormat& format) {
  const std::int64_t d = shape.audio_state;
  const auto floats = [](std::int64_t count) { return WeightMemory::float_bytes(static_cast<std::size_t>(count)); };
  return packed_linear_bytes(matrix_of(d, 3 * shape.mels), format) + packed_linear_bytes(matrix_of(d, 3 * d), format) +
         floats(shape.audio_context * d) + static_cast<std::size_t>(shape.audio_layers) * layer_bytes(shape, format) +
         floats(d) + static_cast<std::size_t>(shape.text_layers) * packed_linear_bytes(matrix_of(2 * d, d), format);
}

CpuEncoderWeights::CpuEncoderWeights(const ModelReader& reader, const ProductFormat& format, WeightMemory memory) try
    : format_(format), memory_(std::move(memory)) {
  const ModelShape& shape = reader.info().shape;
  const LayerReader file(reader);
  first_convolution = pack_linear(convolution(reader, "encoder.conv1"), format, memory_);
  const Linear second = convolution(reader, "encoder.conv2");
  second_convolution = pack_linear(second, format, memory_);
  positions = copied(reader.values("encoder.positional_embedding"), memory_);
  StreamSizes stream(static_cast<std::size_t>(shape.audio_state));
  if (format.type == ComputeType::kInt8 && !memory_.is_filled()) {
    stream.add(second);
    stream.add(positions);
  }
  for (int i = 0; i < shape.audio_layers; ++i) {
    layers.push_back(read_layer(file, "encoder.blocks." + std::to_string(i),
                                static_cast<std::size_t>(shape.audio_heads), format, memory_, stream));
    // Keeps the file and the packed weights from being in memory as a whole at the same time.
    reader.drop_pages();
  }
  std::vector<Linear> projections;
  std::vector<const Linear*> all;
  for (int i = 0; i < shape.text_layers; ++i) {
    projections.push_back(file.key_value("decoder.blocks." + std::to_string(i) + ".cross_attn"));
  }
  for (const Linear& linear : projections) all.push_back(&linear);
  cross = pack_behind_norm(file.norm("encoder.ln_post"), all, format, memory_, stream.outliers());
} catch (const EngineError&) {
  throw;
} catch (const std::bad_alloc&) {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder's weights");
} catch (const std::exception& error) {
  throw EngineError(ErrorCode::kInternalError, std::string("the encoder's weights: ") + error.what());
}

std::size_t CpuEncoderWeights::bytes() const noexcept {
  std::size_t bytes =
      memory_.size() + first_convolution.weight.own_bytes() + second_convolution.weight.own_bytes() + own_bytes(cross);
  for (const CpuEncoderLayer& layer : layers) bytes += own_bytes(layer);
  return bytes;
}

}  // namespace verbatim::whisper
