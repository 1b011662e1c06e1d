#include "speech/silero/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "transformer/half.h"
#include "transformer/kernels/kernels.h"
#include "transformer/transformer.h"

namespace verbatim::silero {
namespace {

using transformer::kPanelOutputs;

constexpr int kNone = -1;
constexpr int kRelu = static_cast<int>(transformer::Activation::kRelu);

constexpr std::size_t kPadding = 64;
constexpr std::size_t kWindow = 256;
constexpr std::size_t kHop = 128;
constexpr std::size_t kSteps = (Network::kFrame + 2 * kPadding - kWindow) / kHop + 1;
constexpr std::size_t kBins = 129;

// A convolution over time. All have three taps and one step of padding on either side; the taps in [first, last) meet
// something else than padding in the only steps that the result depends on.
struct Convolution {
  std::size_t inputs, outputs, first, last;
};
constexpr std::size_t kTaps = 3;
constexpr std::array<Convolution, 4> kConvolutions = {
    {{kBins, 128, 0, 3}, {128, 64, 0, 3}, {64, 64, 1, 3}, {64, 128, 1, 2}}};

// tanh(x) = 2 logistic(2 x) - 1, of kLstm values.
void tanh_row(const float* x, float* out) {
  static constexpr auto kTwos = [] {
    std::array<float, Network::kLstm> twos{};
    twos.fill(2.0f);
    return twos;
  }();
  std::array<float, Network::kLstm> doubled;
  for (std::size_t i = 0; i < doubled.size(); ++i) doubled[i] = 2 * x[i];
  transformer::kernels().gate_row(kTwos.data(), doubled.data(), doubled.size(), out);
  for (std::size_t i = 0; i < doubled.size(); ++i) out[i] -= 1;
}

float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }

}  // namespace

// Reads tensors as float32.
class Network::Reader {
 public:
  Reader(std::string_view file, const std::map<std::string, std::uint64_t>& offsets) : file_(file), offsets_(offsets) {}

  std::vector<float> floats(const std::string& name, std::size_t count) const { return read<float>(name, count); }

  std::vector<float> halves(const std::string& name, std::size_t count) const {
    const auto stored = read<std::uint16_t>(name, count);
    std::vector<float> values(count);
    std::transform(stored.begin(), stored.end(), values.begin(), transformer::float16_to_float);
    return values;
  }

 private:
  template <typename T>
  std::vector<T> read(const std::string& name, std::size_t count) const {
    std::vector<T> values(count);
    const std::string_view stored = file_.substr(offsets_.at("_model." + name), count * sizeof(T));
    std::memcpy(values.data(), stored.data(), stored.size());
    return values;
  }

  const std::string_view file_;
  const std::map<std::string, std::uint64_t>& offsets_;
};

Network::Layer Network::make_layer(std::size_t depth, std::size_t outputs, std::vector<float> bias) {
  const std::size_t panels = (outputs + kPanelOutputs - 1) / kPanelOutputs;
  return {depth, outputs, std::vector<float>(panels * kPanelOutputs * depth), std::move(bias)};
}

Network::Network(std::string_view file, const std::map<std::string, std::uint64_t>& offsets) {
  const Reader reader(file, offsets);
  const auto weight = [](Layer& layer, std::size_t output, std::size_t input) -> float& {
    return layer.panels[(output / kPanelOutputs * layer.depth + input) * kPanelOutputs + output % kPanelOutputs];
  };

  transform_ = make_layer(kWindow, 2 * kBins, {});
  const auto basis = reader.halves("stft.forward_basis_buffer", 2 * kBins * kWindow);
  for (std::size_t i = 0; i < basis.size(); ++i) weight(transform_, i / kWindow, i % kWindow) = basis[i];

  for (std::size_t i = 0; i < kConvolutions.size(); ++i) {
    const auto& [inputs, outputs, first, last] = kConvolutions[i];
    const std::string name = "encoder." + std::to_string(i) + ".reparam_conv.";
    Layer& layer = convolutions_[i] =
        make_layer((last - first) * inputs, outputs, reader.floats(name + "bias", outputs));
    // [outputs][inputs][taps]
    const auto stored = reader.halves(name + "weight", outputs * inputs * kTaps);
    for (std::size_t output = 0; output < outputs; ++output) {
      for (std::size_t input = 0; input < inputs; ++input) {
        for (std::size_t tap = first; tap < last; ++tap)
          weight(layer, output, (tap - first) * inputs + input) = stored[(output * inputs + input) * kTaps + tap];
      }
    }
  }

  std::vector<float> bias = reader.floats("decoder.rnn.bias_ih", 4 * kLstm);
  const auto hidden_bias = reader.floats("decoder.rnn.bias_hh", 4 * kLstm);
  std::transform(bias.begin(), bias.end(), hidden_bias.begin(), bias.begin(), std::plus<>());
  gates_ = make_layer(2 * kLstm, 4 * kLstm, std::move(bias));
  const auto from_input = reader.floats("decoder.rnn.weight_ih", 4 * kLstm * kLstm);
  const auto from_hidden = reader.floats("decoder.rnn.weight_hh", 4 * kLstm * kLstm);
  for (std::size_t i = 0; i < from_input.size(); ++i) {
    weight(gates_, i / kLstm, i % kLstm) = from_input[i];
    weight(gates_, i / kLstm, kLstm + i % kLstm) = from_hidden[i];
  }
  output_ = reader.halves("decoder.decoder.2.weight", kLstm);
  output_bias_ = reader.floats("decoder.decoder.2.bias", 1)[0];
}

void Network::Layer::apply(const float* x, std::size_t rows, int activation, float* y) const {
  transformer::GemmCall call;
  call.x = x;
  call.rows = rows;
  call.depth = depth;
  call.weights = panels.data();
  call.outputs = outputs;
  call.last_panel = panels.size() / (depth * kPanelOutputs);
  call.y = y;
  call.ld = outputs;
  call.epilogue.bias = bias.empty() ? nullptr : bias.data();
  call.epilogue.activation = activation;
  transformer::kernels().gemm_float32(call);
}

float Network::probability(std::span<const float, kFrame> samples, State& state) const {
  // The frame, with its ends reflected, in overlapping windows.
  std::array<float, kFrame + 2 * kPadding> padded;
  std::copy(samples.begin(), samples.end(), padded.begin() + kPadding);
  for (std::size_t i = 1; i <= kPadding; ++i) {
    padded[kPadding - i] = samples[i];
    padded[kPadding + kFrame - 1 + i] = samples[kFrame - 1 - i];
  }
  std::array<float, kSteps * kWindow> windows;
  for (std::size_t step = 0; step < kSteps; ++step)
    std::copy_n(padded.begin() + step * kHop, kWindow, windows.begin() + step * kWindow);
  std::array<float, kSteps * 2 * kBins> bins;
  transform_.apply(windows.data(), kSteps, kNone, bins.data());

  // The magnitudes, with a step of padding on either side.
  std::array<float, (kSteps + 2) * kBins> magnitudes{};
  for (std::size_t step = 0; step < kSteps; ++step) {
    const float* real = bins.data() + step * 2 * kBins;
    float* out = magnitudes.data() + (step + 1) * kBins;
    for (std::size_t i = 0; i < kBins; ++i) out[i] = std::sqrt(real[i] * real[i] + real[kBins + i] * real[kBins + i]);
  }

  // Four steps of 128 channels; then, at every second step, two of 64; then one.
  std::array<float, kSteps * kTaps * kBins> views;
  for (std::size_t step = 0; step < kSteps; ++step)
    std::copy_n(magnitudes.begin() + step * kBins, kTaps * kBins, views.begin() + step * kTaps * kBins);
  std::array<float, (kSteps + 1) * 128> first{};
  convolutions_[0].apply(views.data(), kSteps, kRelu, first.data() + 128);
  std::array<float, 2 * kTaps * 128> wide;
  std::copy_n(first.begin(), kTaps * 128, wide.begin());
  std::copy_n(first.begin() + 2 * 128, kTaps * 128, wide.begin() + kTaps * 128);
  std::array<float, 2 * 64> second;
  convolutions_[1].apply(wide.data(), 2, kRelu, second.data());
  std::array<float, 64> third;
  convolutions_[2].apply(second.data(), 1, kRelu, third.data());
  std::array<float, 2 * kLstm> inputs;
  convolutions_[3].apply(third.data(), 1, kRelu, inputs.data());

  std::copy(state.hidden.begin(), state.hidden.end(), inputs.begin() + kLstm);
  std::array<float, 4 * kLstm> gates;
  gates_.apply(inputs.data(), 1, kNone, gates.data());
  return advance(gates, state);
}

// One step of the LSTM cell, and the output.
float Network::advance(const std::array<float, 4 * kLstm>& gates, State& state) const {
  const auto gate_row = transformer::kernels().gate_row;
  const float* const input = gates.data();
  const float* const keep = input + kLstm;
  const float* const output = input + 3 * kLstm;
  std::array<float, kLstm> update;
  tanh_row(input + 2 * kLstm, update.data());
  gate_row(update.data(), input, kLstm, update.data());
  gate_row(state.cell.data(), keep, kLstm, state.cell.data());
  for (std::size_t i = 0; i < kLstm; ++i) state.cell[i] += update[i];
  tanh_row(state.cell.data(), update.data());
  gate_row(update.data(), output, kLstm, state.hidden.data());
  float sum = output_bias_;
  for (std::size_t i = 0; i < kLstm; ++i) sum += std::max(state.hidden[i], 0.0f) * output_[i];
  return logistic(sum);
}

std::size_t Network::memory_bytes() const noexcept {
  std::size_t floats = transform_.panels.size() + gates_.panels.size() + gates_.bias.size() + output_.size();
  for (const Layer& layer : convolutions_) floats += layer.panels.size() + layer.bias.size();
  return floats * sizeof(float);
}

}  // namespace verbatim::silero
