#include "testing/random_parakeet_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "speech/random_models/ggml_writer.h"
#include "speech/random_models/noise.h"

namespace verbatim::test {
namespace {

constexpr std::int32_t kSubsampling = 8;
// 25 ms as in NeMo's features; shorter if the transform is.
constexpr std::int32_t kWindow = 400;

void write_header(random_models::GgmlWriter& out, const parakeet::ModelShape& shape) {
  out.value(random_models::GgmlWriter::kMagic);
  for (const std::int32_t field :
       {shape.vocabulary, shape.audio_context, shape.state, shape.heads, shape.layers, shape.mels,
        random_models::versioned(shape.file_type), shape.fft, shape.subsampling, shape.subsampling_channels,
        shape.kernel, shape.prediction_state, shape.prediction_layers, shape.durations, shape.most_tokens}) {
    out.value(field);
  }
}

void write_window(random_models::GgmlWriter& out, std::int32_t fft) {
  const std::int32_t size = std::min(kWindow, fft);
  out.value(size);
  for (std::int32_t i = 0; i < size; ++i) {
    out.value(static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / (size - 1))));
  }
}

std::string piece(std::int32_t number) {
  static constexpr std::array<const char*, 6> kMarks = {".", ",", "?", "!", "\xE2\x96\x81", "'s"};
  if (number == 0) return "<unk>";
  if (number % 8 == 1) return kMarks[static_cast<std::size_t>(number / 8) % kMarks.size()];
  const std::string letters = (number % 5 == 0 ? "\xC3\xA9" : "w") + std::to_string(number);
  return (number % 3 == 0 ? "" : "\xE2\x96\x81") + letters;
}

void write_vocabulary(random_models::GgmlWriter& out, std::int32_t pieces) {
  out.value(pieces);
  for (std::int32_t i = 0; i < pieces; ++i) out.text(piece(i));
}

bool is_gain(const std::string& name) {
  const bool is_norm = name.find("norm") != std::string::npos && name.ends_with(".weight");
  return is_norm || name.ends_with(".running_var");
}

bool is_convolution(const std::string& name) { return name.find("pre_encode.conv") != std::string::npos; }

// Number of values that are summed up to one value of the next layer.
std::size_t inputs_of(const std::string& name, const TensorShape& tensor) {
  const auto& sizes = tensor.dimensions;
  return static_cast<std::size_t>(is_convolution(name) ? sizes[0] * sizes[1] * sizes[2] : sizes[0]);
}

// Whether the tensor's input is rectified, which halves its power.
bool follows_rectifier(const std::string& name) {
  return name == "encoder.pre_encode.out.weight" || name == "joint.joint_net.2.weight" ||
         (is_convolution(name) && name.find("conv.0") == std::string::npos);
}

// How clearly the likeliest piece is ahead: standard deviation of the joint network's output over the pieces.
constexpr float kClarity = 4.0f;

float gain_of(const std::string& name) {
  // Attention with random weights is a mean over the window, the same at every position. Its weight is therefore small.
  if (name.ends_with("self_attn.linear_out.weight")) return 0.2f;
  if (name == "joint.joint_net.2.weight") return kClarity / 0.6f;
  return follows_rectifier(name) ? 1.4f : 1.0f;
}

// Scaled roughly as the weights of a trained network, so that each position of the encoder's output depends on the
// audio there.
float scale_of(const std::string& name, const TensorShape& tensor) {
  if (name.ends_with("bias") || name.find("pos_bias") != std::string::npos) return 0.1f;
  if (name == "decoder.prediction.embed.weight") return 1.0f;
  if (!name.ends_with(".weight") && tensor.dimensions[1] == 1) return 0.1f;
  return gain_of(name) * std::sqrt(3.0f / static_cast<float>(inputs_of(name, tensor)));
}

std::vector<float> random_values(const std::string& name, const TensorShape& tensor, std::uint32_t seed) {
  random_models::Noise noise(seed ^ random_models::name_hash(name));
  const float scale = is_gain(name) ? 0.1f : scale_of(name, tensor);
  const float offset = is_gain(name) ? 1.0f : 0.0f;
  std::vector<float> values(random_models::values_in(tensor));
  for (float& value : values) value = offset + scale * noise.next();
  return values;
}

// Rectified values are above zero everywhere, whatever the audio. Rows that sum up to 0 remove their mean.
void centre_rows(std::vector<float>& values, std::size_t row) {
  for (std::size_t at = 0; at < values.size(); at += row) {
    float sum = 0.0f;
    for (std::size_t i = at; i < at + row; ++i) sum += values[i];
    for (std::size_t i = at; i < at + row; ++i) values[i] -= sum / static_cast<float>(row);
  }
}

// Makes the blank about as likely as all pieces together.
void favour_blank(std::vector<float>& bias, const parakeet::ModelShape& shape) {
  const double rivals = std::max(2, shape.vocabulary);
  bias[static_cast<std::size_t>(shape.vocabulary)] +=
      kClarity * static_cast<float>(std::sqrt(2 * std::log(rivals)) - 0.5);
}

parakeet::ModelShape published(std::int32_t vocabulary, const std::string& weights) {
  return {.vocabulary = vocabulary,
          .audio_context = 5000,
          .state = 1024,
          .heads = 8,
          .layers = 24,
          .mels = 128,
          .file_type = random_models::file_type(weights),
          .fft = 512,
          .subsampling = kSubsampling,
          .subsampling_channels = 256,
          .kernel = 9,
          .prediction_state = 640,
          .prediction_layers = 2,
          .durations = 5,
          .most_tokens = 10};
}

parakeet::ModelShape narrow(const std::string& weights) {
  return {.vocabulary = 120,
          .audio_context = 3200,
          .state = 40,
          .heads = 4,
          .layers = 2,
          .mels = 16,
          .file_type = random_models::file_type(weights),
          .fft = 256,
          .subsampling = kSubsampling,
          .subsampling_channels = 4,
          .kernel = 3,
          .prediction_state = 24,
          .prediction_layers = 1,
          .durations = 2,
          .most_tokens = 4};
}

parakeet::ModelShape wide(const std::string& weights) {
  return {.vocabulary = 1024,
          .audio_context = 3200,
          .state = 256,
          .heads = 2,
          .layers = 1,
          .mels = 128,
          .file_type = random_models::file_type(weights),
          .fft = 512,
          .subsampling = kSubsampling,
          .subsampling_channels = 16,
          .kernel = 9,
          .prediction_state = 64,
          .prediction_layers = 2,
          .durations = 5,
          .most_tokens = 10};
}

using MakeShape = parakeet::ModelShape (*)(const std::string& weights);

const std::map<std::string, MakeShape>& shapes() {
  static const std::map<std::string, MakeShape> kShapes = {
      {"parakeet-0.6b", [](const std::string& weights) { return published(8192, weights); }},
      {"parakeet-0.6b-v2", [](const std::string& weights) { return published(1024, weights); }},
      {"parakeet-narrow", narrow},
      {"parakeet-small", [](const std::string& weights) { return small_parakeet_shape(weights); }},
      {"parakeet-wide", wide}};
  return kShapes;
}

}  // namespace

parakeet::ModelShape small_parakeet_shape(const std::string& weights) {
  return {.vocabulary = 120,
          .audio_context = 3200,
          .state = 64,
          .heads = 2,
          .layers = 2,
          .mels = 32,
          .file_type = random_models::file_type(weights),
          .fft = 512,
          .subsampling = kSubsampling,
          .subsampling_channels = 16,
          .kernel = 9,
          .prediction_state = 64,
          .prediction_layers = 2,
          .durations = 5,
          .most_tokens = 4};
}

std::vector<std::string> parakeet_shapes() {
  std::vector<std::string> names;
  for (const auto& [name, make] : shapes()) names.push_back(name);
  return names;
}

parakeet::ModelShape parakeet_shape(const std::string& name, const std::string& weights) {
  const auto found = shapes().find(name);
  if (found != shapes().end()) return found->second(weights);
  throw std::invalid_argument("\"" + name + "\" is no shape; allowed: " + random_models::listed(parakeet_shapes()));
}

void write_random_parakeet_model(const parakeet::ModelShape& shape, std::uint32_t seed,
                                 const std::filesystem::path& path) {
  random_models::GgmlWriter out(path);
  write_header(out, shape);
  random_models::write_filters(out, shape.mels, shape.fft / 2 + 1);
  write_window(out, shape.fft);
  for (std::int32_t duration = 0; duration < shape.durations; ++duration) out.value(duration);
  write_vocabulary(out, shape.vocabulary);
  const auto tensors = parakeet::expected_tensors(shape);
  // In the order of names, whatever the hash table's order.
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) {
    // As NeMo's converter writes it.
    if (name.ends_with(parakeet::kBatchCount)) {
      out.tensor(name, {tensor.dimensions, GGML_TYPE_F32}, {0.0f}, 0);
      continue;
    }
    std::vector<float> values = random_values(name, tensor, seed);
    if (follows_rectifier(name)) centre_rows(values, inputs_of(name, tensor));
    if (name == "joint.joint_net.2.bias") favour_blank(values, shape);
    out.tensor(name, tensor, values);
  }
  out.close();
}

}  // namespace verbatim::test
