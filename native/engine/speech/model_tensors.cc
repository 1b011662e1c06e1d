#include "speech/model_tensors.h"

namespace verbatim {
namespace {

class TensorTable {
 public:
  explicit TensorTable(ggml_type weights) : weights_(weights) {}

  void vector(const std::string& name, std::int64_t size) { add(name, {size, 1, 1, 1}, GGML_TYPE_F32); }
  void matrix(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    add(name, {inputs, outputs, 1, 1}, weights_);
  }
  void embedding(const std::string& name, std::int64_t state, std::int64_t positions) {
    add(name, {state, positions, 1, 1}, GGML_TYPE_F32);
  }
  void convolution(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    add(name + ".weight", {3, inputs, outputs, 1}, weights_ == GGML_TYPE_F32 ? GGML_TYPE_F32 : GGML_TYPE_F16);
    add(name + ".bias", {1, outputs, 1, 1}, GGML_TYPE_F32);
  }
  void norm(const std::string& name, std::int64_t state) {
    vector(name + ".weight", state);
    vector(name + ".bias", state);
  }
  void linear(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    matrix(name + ".weight", inputs, outputs);
    vector(name + ".bias", outputs);
  }
  // Whisper's attention: the key projection has no bias.
  void attention(const std::string& name, std::int64_t state) {
    norm(name + "_ln", state);
    linear(name + ".query", state, state);
    matrix(name + ".key.weight", state, state);
    linear(name + ".value", state, state);
    linear(name + ".out", state, state);
  }
  void feed_forward(const std::string& name, std::int64_t state) {
    norm(name + ".mlp_ln", state);
    linear(name + ".mlp.0", state, 4 * state);
    linear(name + ".mlp.2", 4 * state, state);
  }

  std::unordered_map<std::string, TensorShape> take() { return std::move(tensors_); }

 private:
  void add(const std::string& name, std::array<std::int64_t, 4> dimensions, ggml_type type) {
    tensors_[name] = TensorShape{dimensions, type};
  }

  ggml_type weights_;
  std::unordered_map<std::string, TensorShape> tensors_;
};

void add_encoder(TensorTable& table, const ModelShape& shape) {
  const std::int64_t state = shape.audio_state;
  table.embedding("encoder.positional_embedding", state, shape.audio_context);
  table.convolution("encoder.conv1", shape.mels, state);
  table.convolution("encoder.conv2", state, state);
  table.norm("encoder.ln_post", state);
  for (int layer = 0; layer < shape.audio_layers; ++layer) {
    const std::string block = "encoder.blocks." + std::to_string(layer);
    table.attention(block + ".attn", state);
    table.feed_forward(block, state);
  }
}

void add_decoder(TensorTable& table, const ModelShape& shape) {
  const std::int64_t state = shape.text_state;
  table.embedding("decoder.positional_embedding", state, shape.text_context);
  table.matrix("decoder.token_embedding.weight", state, shape.vocabulary);
  table.norm("decoder.ln", state);
  for (int layer = 0; layer < shape.text_layers; ++layer) {
    const std::string block = "decoder.blocks." + std::to_string(layer);
    table.attention(block + ".attn", state);
    table.attention(block + ".cross_attn", state);
    table.feed_forward(block, state);
  }
}

}  // namespace

std::uint64_t TensorShape::bytes() const noexcept {
  const auto rows = static_cast<std::uint64_t>(dimensions[1] * dimensions[2] * dimensions[3]);
  return rows * ggml_row_size(type, dimensions[0]);
}

std::string TensorShape::describe() const {
  std::size_t rank = dimensions.size();
  while (rank > 1 && dimensions[rank - 1] == 1) --rank;
  std::string text = "[";
  for (std::size_t i = 0; i < rank; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dimensions[i]);
  }
  text += "] of type ";
  return text + ggml_type_name(type);
}

ggml_type weight_type(std::int32_t file_type) noexcept {
  switch (file_type) {
    case GGML_FTYPE_ALL_F32:
      return GGML_TYPE_F32;
    case GGML_FTYPE_MOSTLY_F16:
      return GGML_TYPE_F16;
    case GGML_FTYPE_MOSTLY_Q4_0:
      return GGML_TYPE_Q4_0;
    case GGML_FTYPE_MOSTLY_Q4_1:
      return GGML_TYPE_Q4_1;
    case GGML_FTYPE_MOSTLY_Q5_0:
      return GGML_TYPE_Q5_0;
    case GGML_FTYPE_MOSTLY_Q5_1:
      return GGML_TYPE_Q5_1;
    case GGML_FTYPE_MOSTLY_Q8_0:
      return GGML_TYPE_Q8_0;
    case GGML_FTYPE_MOSTLY_Q2_K:
      return GGML_TYPE_Q2_K;
    case GGML_FTYPE_MOSTLY_Q3_K:
      return GGML_TYPE_Q3_K;
    case GGML_FTYPE_MOSTLY_Q4_K:
      return GGML_TYPE_Q4_K;
    case GGML_FTYPE_MOSTLY_Q5_K:
      return GGML_TYPE_Q5_K;
    case GGML_FTYPE_MOSTLY_Q6_K:
      return GGML_TYPE_Q6_K;
    default:
      return GGML_TYPE_COUNT;
  }
}

std::unordered_map<std::string, TensorShape> expected_tensors(const ModelShape& shape) {
  TensorTable table(weight_type(shape.file_type));
  add_encoder(table, shape);
  add_decoder(table, shape);
  return table.take();
}

}  // namespace verbatim
