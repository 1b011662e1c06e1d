#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::silero {

// The network of Silero VAD 5 and 6 for 16 kHz, as in whisper.cpp's graph: the magnitudes of a short-time Fourier
// transform, four convolutions, an LSTM cell and a logistic output. It computes in float32; whisper.cpp rounds the
// convolutions' inputs to float16, and on some processors their sums. Weights are shared by all signals; a signal has
// its state only. Safe to use from many threads.
class Network {
 public:
  static constexpr std::size_t kFrame = 512;
  static constexpr std::size_t kLstm = 128;

  // What the network remembers of a signal.
  struct State {
    std::array<float, kLstm> hidden{};
    std::array<float, kLstm> cell{};
  };

  // `file`: a whole file that check_model_file() accepts; `offsets`: what it returned.
  Network(std::string_view file, const std::map<std::string, std::uint64_t>& offsets);

  // The probability of speech in the frame that follows those before. Single-threaded, some 30 microseconds.
  float probability(std::span<const float, kFrame> samples, State& state) const;

  // Bytes of the weights.
  std::size_t memory_bytes() const noexcept;

 private:
  // y = activation(x * weights + bias), the weights in panels as the kernels read them.
  struct Layer {
    std::size_t depth = 0;
    std::size_t outputs = 0;
    std::vector<float> panels;
    std::vector<float> bias;

    // x: [rows][depth], y: [rows][outputs]. `activation`: as in transformer::Epilogue.
    void apply(const float* x, std::size_t rows, int activation, float* y) const;
  };
  class Reader;

  float advance(const std::array<float, 4 * kLstm>& gates, State& state) const;

  static Layer make_layer(std::size_t depth, std::size_t outputs, std::vector<float> bias);

  // [256] -> [258]: real parts of all bins, then imaginary parts.
  Layer transform_;
  // The taps of a convolution that meet samples and not padding, tap by tap.
  std::array<Layer, 4> convolutions_;
  // Input and hidden state -> the four gates.
  Layer gates_;
  std::vector<float> output_;
  float output_bias_ = 0;
};

}  // namespace verbatim::silero
