#include "speech/parakeet/model_tensors.h"

#include <array>
#include <utility>

namespace verbatim::parakeet {
namespace {

class TensorTable {
 public:
  TensorTable(ggml_type weights, ggml_type prediction) : weights_(weights), prediction_(prediction) {}

  void plain(const std::string& name, std::array<std::int64_t, 4> dimensions) { add(name, dimensions, GGML_TYPE_F32); }
  void vector(const std::string& name, std::int64_t size) { plain(name, {size, 1, 1, 1}); }
  void matrix(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    add(name + ".weight", {inputs, outputs, 1, 1}, weights_);
  }
  void prediction_matrix(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    add(name, {inputs, outputs, 1, 1}, prediction_);
  }
  void norm(const std::string& name, std::int64_t state) {
    vector(name + ".weight", state);
    vector(name + ".bias", state);
  }
  // A convolution with a size x size kernel. `inputs` is 1 for a depthwise one.
  void convolution(const std::string& name, std::int64_t size, std::int64_t inputs, std::int64_t outputs) {
    plain(name + ".weight", {size, size, inputs, outputs});
    plain(name + ".bias", {1, 1, outputs, 1});
  }
  void single(const std::string& name) { add(name, {1, 1, 1, 1}, GGML_TYPE_I32); }

  std::unordered_map<std::string, TensorShape> take() { return std::move(tensors_); }

 private:
  void add(const std::string& name, std::array<std::int64_t, 4> dimensions, ggml_type type) {
    tensors_[name] = TensorShape{dimensions, type};
  }

  ggml_type weights_;
  ggml_type prediction_;
  std::unordered_map<std::string, TensorShape> tensors_;
};

void add_subsampling(TensorTable& table, const ModelShape& shape) {
  const std::int64_t channels = shape.subsampling_channels;
  const std::string name = "encoder.pre_encode.";
  table.convolution(name + "conv.0", 3, 1, channels);
  table.convolution(name + "conv.2", 3, 1, channels);
  table.convolution(name + "conv.3", 1, channels, channels);
  table.convolution(name + "conv.5", 3, 1, channels);
  table.convolution(name + "conv.6", 1, channels, channels);
  table.matrix(name + "out", shape.features(), shape.state);
  table.vector(name + "out.bias", shape.state);
}

void add_feed_forward(TensorTable& table, const std::string& layer, const std::string& number, std::int64_t state) {
  table.norm(layer + ".norm_feed_forward" + number, state);
  table.matrix(layer + ".feed_forward" + number + ".linear1", state, 4 * state);
  table.matrix(layer + ".feed_forward" + number + ".linear2", 4 * state, state);
}

void add_attention(TensorTable& table, const std::string& layer, const ModelShape& shape) {
  const std::int64_t state = shape.state;
  table.norm(layer + ".norm_self_att", state);
  for (const char* bias : {".self_attn.pos_bias_u", ".self_attn.pos_bias_v"}) {
    table.plain(layer + bias, {state / shape.heads, shape.heads, 1, 1});
  }
  for (const char* projection : {"q", "k", "v", "out", "pos"}) {
    table.matrix(layer + ".self_attn.linear_" + projection, state, state);
  }
}

void add_convolution(TensorTable& table, const std::string& layer, const ModelShape& shape) {
  const std::int64_t state = shape.state;
  table.norm(layer + ".norm_conv", state);
  table.matrix(layer + ".conv.pointwise_conv1", state, 2 * state);
  table.plain(layer + ".conv.depthwise_conv.weight", {shape.kernel, state, 1, 1});
  table.norm(layer + ".conv.batch_norm", state);
  table.vector(layer + ".conv.batch_norm.running_mean", state);
  table.vector(layer + ".conv.batch_norm.running_var", state);
  table.single(layer + "." + kBatchCount);
  table.matrix(layer + ".conv.pointwise_conv2", state, state);
}

void add_prediction(TensorTable& table, const ModelShape& shape) {
  const std::int64_t state = shape.prediction_state;
  table.prediction_matrix("decoder.prediction.embed.weight", state, shape.vocabulary + 1);
  for (int layer = 0; layer < shape.prediction_layers; ++layer) {
    const std::string lstm = "decoder.prediction.dec_rnn.lstm.";
    const std::string number = "_l" + std::to_string(layer);
    table.prediction_matrix(lstm + "weight_ih" + number, state, 4 * state);
    table.prediction_matrix(lstm + "weight_hh" + number, state, 4 * state);
    table.vector(lstm + "bias_h" + number, 4 * state);
  }
}

void add_joint(TensorTable& table, const ModelShape& shape) {
  const std::int64_t state = shape.prediction_state;
  table.prediction_matrix("joint.pred.weight", state, state);
  table.vector("joint.pred.bias", state);
  table.matrix("joint.enc", shape.state, state);
  table.vector("joint.enc.bias", state);
  table.prediction_matrix("joint.joint_net.2.weight", state, shape.outputs());
  table.vector("joint.joint_net.2.bias", shape.outputs());
}

}  // namespace

ggml_type prediction_type(const ModelShape& shape) noexcept {
  const ggml_type type = weight_type(shape.file_type);
  return shape.prediction_state % ggml_blck_size(type) == 0 ? type : GGML_TYPE_F32;
}

std::unordered_map<std::string, TensorShape> expected_tensors(const ModelShape& shape) {
  TensorTable table(weight_type(shape.file_type), prediction_type(shape));
  add_subsampling(table, shape);
  for (int i = 0; i < shape.layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i);
    add_feed_forward(table, layer, "1", shape.state);
    add_attention(table, layer, shape);
    add_convolution(table, layer, shape);
    add_feed_forward(table, layer, "2", shape.state);
    table.norm(layer + ".norm_out", shape.state);
  }
  add_prediction(table, shape);
  add_joint(table, shape);
  return table.take();
}

std::uint64_t count_values(const ModelShape& shape) {
  std::uint64_t count = 0;
  for (const auto& [name, tensor] : expected_tensors(shape)) {
    const auto& [columns, rows, planes, blocks] = tensor.dimensions;
    count += static_cast<std::uint64_t>(columns * rows * planes * blocks);
  }
  return count;
}

}  // namespace verbatim::parakeet
