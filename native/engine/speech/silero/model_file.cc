#include "speech/silero/model_file.h"

#include <array>
#include <istream>
#include <string_view>

#include "speech/model_stream.h"

namespace verbatim::silero {
namespace {

constexpr std::string_view kType = "silero-16k";

struct Convolution {
  std::int32_t inputs, outputs, kernel;
};
constexpr std::array<Convolution, 4> kEncoder = {{{129, 128, 3}, {128, 64, 3}, {64, 64, 3}, {64, 128, 3}}};
constexpr std::int32_t kLstm = 128;

TensorShape shape(ggml_type type, std::int64_t a, std::int64_t b = 1, std::int64_t c = 1) {
  return {{a, b, c, 1}, type};
}

std::map<std::string, TensorShape> tensors() {
  std::map<std::string, TensorShape> all = {
      {"_model.stft.forward_basis_buffer", shape(GGML_TYPE_F16, 256, 1, 258)},
      {"_model.decoder.rnn.weight_ih", shape(GGML_TYPE_F32, kLstm, 4 * kLstm)},
      {"_model.decoder.rnn.weight_hh", shape(GGML_TYPE_F32, kLstm, 4 * kLstm)},
      {"_model.decoder.rnn.bias_ih", shape(GGML_TYPE_F32, 4 * kLstm)},
      {"_model.decoder.rnn.bias_hh", shape(GGML_TYPE_F32, 4 * kLstm)},
      {"_model.decoder.decoder.2.weight", shape(GGML_TYPE_F16, kLstm)},
      {"_model.decoder.decoder.2.bias", shape(GGML_TYPE_F32, 1)},
  };
  for (std::size_t layer = 0; layer < kEncoder.size(); ++layer) {
    const auto& [inputs, outputs, kernel] = kEncoder[layer];
    const std::string name = "_model.encoder." + std::to_string(layer) + ".reparam_conv.";
    all[name + "weight"] = shape(GGML_TYPE_F16, kernel, inputs, outputs);
    all[name + "bias"] = shape(GGML_TYPE_F32, outputs);
  }
  return all;
}

void expect(ModelStream& stream, std::string_view what, std::int32_t wanted) {
  const auto value = stream.value<std::int32_t>("the header");
  expect_field(value == wanted, what, value, std::to_string(wanted));
}

bool begins_as_silero(ModelStream& stream) {
  if (stream.left() < sizeof(std::uint32_t) + sizeof(std::int32_t) + kType.size()) return false;
  return stream.value<std::uint32_t>("the magic number") == ModelStream::kMagic &&
         stream.value<std::int32_t>("the header") == static_cast<std::int32_t>(kType.size()) &&
         stream.text(kType.size(), "the header") == kType;
}

void check_header(ModelStream& stream) {
  if (!begins_as_silero(stream)) {
    refuse_model("not a Silero model: the file does not start with the magic number \"lmgg\" and the type " +
                 std::string(kType));
  }
  // The version, which whisper.cpp only prints.
  for (int part = 0; part < 3; ++part) stream.value<std::int32_t>("the header");
  expect(stream, "frame", 512);
  expect(stream, "context", 64);
  expect(stream, "number of encoder layers", static_cast<std::int32_t>(kEncoder.size()));
  for (const Convolution& layer : kEncoder) {
    expect(stream, "encoder inputs", layer.inputs);
    expect(stream, "encoder outputs", layer.outputs);
    expect(stream, "encoder kernel", layer.kernel);
  }
  expect(stream, "LSTM input size", kLstm);
  expect(stream, "LSTM hidden size", kLstm);
  expect(stream, "number of last inputs", kLstm);
  expect(stream, "number of last outputs", 1);
}

std::map<std::string, std::uint64_t> check_tensors(ModelStream& stream) {
  std::map<std::string, std::uint64_t> seen;
  while (stream.left() > 0) {
    const TensorHeader header = read_tensor_header(stream, 0);
    const std::string name = printable(header.name);
    const auto found = expected_tensors().find(header.name);
    if (found == expected_tensors().end()) {
      refuse_model("the file has a tensor " + name + ", which a Silero model does not have");
    }
    const TensorShape& expected = found->second;
    if (header.shape.dimensions != expected.dimensions || header.shape.type != expected.type) {
      refuse_model("tensor " + name + " is " + header.shape.describe() + ", expected " + expected.describe());
    }
    if (!seen.emplace(header.name, stream.offset()).second) refuse_model("tensor " + name + " is in the file twice");
    stream.skip(expected.bytes(), "tensor " + name);
  }
  for (const auto& [name, tensor] : expected_tensors()) {
    if (!seen.contains(name)) {
      refuse_model("the model file has " + std::to_string(seen.size()) + " of " +
                   std::to_string(expected_tensors().size()) + " tensors; " + name + " is missing");
    }
  }
  return seen;
}

}  // namespace

const std::map<std::string, TensorShape>& expected_tensors() {
  static const std::map<std::string, TensorShape> all = tensors();
  return all;
}

bool is_silero_file(std::istream& stream) {
  ModelStream model(stream);
  return begins_as_silero(model);
}

std::map<std::string, std::uint64_t> check_model_file(std::istream& stream) {
  ModelStream model(stream);
  check_header(model);
  return check_tensors(model);
}

}  // namespace verbatim::silero
