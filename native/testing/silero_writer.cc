#include "testing/silero_writer.h"

#include <cmath>
#include <fstream>
#include <numbers>

#include "speech/model_stream.h"
#include "speech/random_models/noise.h"
#include "speech/silero/model_file.h"

namespace verbatim::test {
namespace {

using Values = std::vector<float>;

constexpr std::size_t kBins = 129;
constexpr std::size_t kWindow = 256;
constexpr std::size_t kState = 128;

template <typename T>
void put(std::ostream& out, T value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put(std::ostream& out, const std::string& text) {
  put(out, static_cast<std::int32_t>(text.size()));
  out << text;
}

// A discrete Fourier transform under a Hann window: the real parts of all bins, then the imaginary parts.
Values transform() {
  Values values(2 * kBins * kWindow);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    for (std::size_t i = 0; i < kWindow; ++i) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(i) / kWindow;
      const double hann = 0.5 - 0.5 * std::cos(turn);
      const double angle = turn * static_cast<double>(bin);
      values[bin * kWindow + i] = static_cast<float>(hann * std::cos(angle));
      values[(kBins + bin) * kWindow + i] = static_cast<float>(-hann * std::sin(angle));
    }
  }
  return values;
}

// Weights whose first output is the sum of the kernel's whole view of the first input, or of all inputs.
Values sum(const TensorShape& tensor, bool all_inputs, float weight) {
  Values values(static_cast<std::size_t>(tensor.dimensions[0] * tensor.dimensions[1] * tensor.dimensions[2]));
  const auto kernel = static_cast<std::size_t>(tensor.dimensions[0]);
  const std::size_t inputs = all_inputs ? static_cast<std::size_t>(tensor.dimensions[1]) : 1;
  for (std::size_t i = 0; i < inputs * kernel; ++i) values[i] = weight;
  return values;
}

// Gates whose first state is the first input, limited to 1, without memory of the past.
Values gates() {
  Values bias(4 * kState);
  for (std::size_t i = 0; i < kState; ++i) {
    bias[i] = 20;
    bias[kState + i] = -20;
    bias[3 * kState + i] = 20;
  }
  return bias;
}

Values first_of(std::size_t count, std::size_t place, float value) {
  Values values(count);
  values[place] = value;
  return values;
}

Values noise_values(const std::string& name, const TensorShape& tensor) {
  Values values =
      random_models::noise(tensor.bytes() / ggml_type_size(tensor.type), static_cast<std::uint32_t>(name.size()));
  const auto inputs = static_cast<float>(tensor.dimensions[0] * tensor.dimensions[1]);
  for (float& value : values) value *= 3 / std::sqrt(inputs);
  return values;
}

// The weights of a file that detects sound; the other detections differ in the last bias.
Values made_up(const std::string& name, const TensorShape& tensor, Detection detection) {
  constexpr float kSteep = 30;
  const std::size_t count = tensor.bytes() / ggml_type_size(tensor.type);
  if (name.ends_with("forward_basis_buffer")) return transform();
  if (name.ends_with("encoder.0.reparam_conv.weight")) return sum(tensor, true, 0.02f);
  if (name.ends_with("reparam_conv.weight")) return sum(tensor, false, 1);
  if (name.ends_with("rnn.weight_ih")) return first_of(count, 2 * kState * kState, 1);
  if (name.ends_with("rnn.bias_ih")) return gates();
  if (name.ends_with("decoder.2.weight")) return first_of(count, 0, kSteep);
  if (!name.ends_with("decoder.2.bias")) return Values(count);
  if (detection == Detection::kSound) return {-kSteep / 2};
  return {detection == Detection::kEverything ? 2 * kSteep : -2 * kSteep};
}

void put_values(std::ostream& out, ggml_type type, const Values& values) {
  for (const float value : values) {
    if (type == GGML_TYPE_F16) {
      put(out, ggml_fp32_to_fp16(value));
    } else {
      put(out, value);
    }
  }
}

}  // namespace

void SileroFile::write(std::ostream& out) const {
  put(out, ModelStream::kMagic);
  put(out, type);
  for (const std::int32_t version : {6, 2, 0}) put(out, version);
  put(out, frame);
  put(out, context);
  for (const std::int32_t size : encoder) put(out, size);
  for (const std::int32_t size : decoder) put(out, size);
  for (const auto& [key, shape] : silero::expected_tensors()) {
    SileroTensor tensor{key, static_cast<std::int32_t>(shape.type), shape.dimensions};
    edit_tensor(tensor);
    if (tensor.name.empty()) continue;
    put<std::int32_t>(out, 3);
    put(out, static_cast<std::int32_t>(tensor.name.size()));
    put(out, tensor.type);
    for (int i = 0; i < 3; ++i) put(out, static_cast<std::int32_t>(tensor.dimensions[static_cast<std::size_t>(i)]));
    out << tensor.name;
    put_values(out, shape.type,
               detection == Detection::kNoise ? noise_values(key, shape) : made_up(key, shape, detection));
  }
}

void SileroFile::write(const std::filesystem::path& path) const {
  std::ofstream out;
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out.open(path, std::ios::binary);
  write(out);
}

}  // namespace verbatim::test
