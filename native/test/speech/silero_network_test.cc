#include <doctest/doctest.h>
#include <whisper.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "audio/cutting/read_whole.h"
#include "device.h"
#include "speech/random_models/noise.h"
#include "speech/silero/model.h"
#include "speech/silero/model_file.h"
#include "speech/whisper_log.h"
#include "support/seed.h"
#include "testing/silero_writer.h"
#include "testing/temporary_directory.h"

// The network against its equations and against whisper.cpp's graph of the same file.

using namespace verbatim;
using namespace verbatim::test;

namespace {

constexpr std::size_t kFrame = VoiceActivityModel::kFrameSamples;

std::vector<float> of_whisper_cpp(const std::filesystem::path& model, const std::vector<float>& samples) {
  capture_whisper_log();
  static_cast<void>(list_devices());
  whisper_vad_context_params params = whisper_vad_default_context_params();
  params.n_threads = 1;
  params.use_gpu = false;
  const std::unique_ptr<whisper_vad_context, decltype(&whisper_vad_free)> context(
      whisper_vad_init_from_file_with_params(model.c_str(), params), whisper_vad_free);
  REQUIRE(context);
  REQUIRE(whisper_vad_detect_speech(context.get(), samples.data(), static_cast<int>(samples.size())));
  const float* probabilities = whisper_vad_probs(context.get());
  return {probabilities, probabilities + whisper_vad_n_probs(context.get())};
}

// The same in double precision, written as the equations are.
class Reference {
 public:
  explicit Reference(const std::filesystem::path& model) {
    std::ifstream file(model, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::istringstream stream(bytes);
    for (const auto& [name, offset] : silero::check_model_file(stream)) {
      const TensorShape& shape = silero::expected_tensors().at(name);
      std::vector<double>& values = tensors_[name.substr(7)];
      values.resize(shape.bytes() / ggml_type_size(shape.type));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(bytes.data() + offset, shape.type, i);
    }
  }

  std::vector<float> probabilities(const std::vector<float>& samples) {
    std::vector<float> out;
    std::vector<double> hidden(128), cell(128);
    for (std::size_t at = 0; at < samples.size(); at += kFrame) {
      Signal x = magnitudes(samples.data() + at);
      for (int layer = 0; layer < 4; ++layer) x = convolution(layer, x, layer == 1 || layer == 2 ? 2 : 1);
      out.push_back(static_cast<float>(cell_step(x[0], hidden, cell)));
    }
    return out;
  }

 private:
  // [steps][channels]
  using Signal = std::vector<std::vector<double>>;

  static double value(const char* from, ggml_type type, std::size_t i) {
    if (type == GGML_TYPE_F32) {
      float number = 0;
      std::memcpy(&number, from + 4 * i, 4);
      return number;
    }
    ggml_fp16_t number = 0;
    std::memcpy(&number, from + 2 * i, 2);
    return ggml_fp16_to_fp32(number);
  }

  static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

  Signal magnitudes(const float* frame) {
    const std::vector<double>& basis = tensors_["stft.forward_basis_buffer"];
    Signal result(4, std::vector<double>(129));
    for (std::size_t step = 0; step < 4; ++step) {
      for (std::size_t bin = 0; bin < 129; ++bin) {
        double real = 0, imaginary = 0;
        for (std::size_t i = 0; i < 256; ++i) {
          const int place = std::abs(static_cast<int>(step * 128 + i) - 64);
          const double sample = frame[place < 512 ? place : 1022 - place];
          real += sample * basis[bin * 256 + i];
          imaginary += sample * basis[(129 + bin) * 256 + i];
        }
        result[step][bin] = std::sqrt(real * real + imaginary * imaginary);
      }
    }
    return result;
  }

  Signal convolution(int layer, const Signal& x, std::size_t stride) {
    const std::string name = "encoder." + std::to_string(layer) + ".reparam_conv.";
    const std::vector<double>& weight = tensors_[name + "weight"];
    const std::vector<double>& bias = tensors_[name + "bias"];
    const std::size_t inputs = x[0].size();
    Signal result((x.size() - 1) / stride + 1, bias);
    for (std::size_t step = 0; step < result.size(); ++step) {
      for (std::size_t output = 0; output < bias.size(); ++output) {
        double& sum = result[step][output];
        for (std::size_t tap = 0; tap < 3; ++tap) {
          const std::size_t place = step * stride + tap;
          if (place < 1 || place > x.size()) continue;
          for (std::size_t i = 0; i < inputs; ++i) sum += weight[(output * inputs + i) * 3 + tap] * x[place - 1][i];
        }
        sum = std::max(sum, 0.0);
      }
    }
    return result;
  }

  double cell_step(const std::vector<double>& x, std::vector<double>& hidden, std::vector<double>& cell) {
    const auto gate = [&, before = hidden](std::size_t row) {
      double sum = tensors_["decoder.rnn.bias_ih"][row] + tensors_["decoder.rnn.bias_hh"][row];
      for (std::size_t i = 0; i < 128; ++i) {
        sum += tensors_["decoder.rnn.weight_ih"][row * 128 + i] * x[i];
        sum += tensors_["decoder.rnn.weight_hh"][row * 128 + i] * before[i];
      }
      return sum;
    };
    double sum = tensors_["decoder.decoder.2.bias"][0];
    for (std::size_t i = 0; i < 128; ++i) {
      cell[i] = logistic(gate(128 + i)) * cell[i] + logistic(gate(i)) * std::tanh(gate(256 + i));
      hidden[i] = logistic(gate(384 + i)) * std::tanh(cell[i]);
      sum += tensors_["decoder.decoder.2.weight"][i] * std::max(hidden[i], 0.0);
    }
    return logistic(sum);
  }

  std::map<std::string, std::vector<double>> tensors_;
};

float largest_difference(const std::vector<float>& left, const std::vector<float>& right) {
  REQUIRE(left.size() == right.size());
  float largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

std::vector<float> of_network(const std::filesystem::path& model, const std::vector<float>& samples) {
  std::vector<float> out(samples.size() / kFrame);
  SileroModel::load(model)->open()->probabilities(samples, out);
  return out;
}

std::vector<float> recording(const std::string& name) {
  const std::filesystem::path samples = std::filesystem::path(VERBATIM_SOURCE_DIR) / "test/fixtures/audio/samples";
  std::vector<float> all = read_whole(samples / name).samples;
  for (float& sample : all) sample = std::clamp(sample, -1.0f, 1.0f);
  all.resize(all.size() / kFrame * kFrame);
  return all;
}

}  // namespace

TEST_CASE("Silero's network has the probabilities of its equations, and those of whisper.cpp but for its rounding") {
  const TemporaryDirectory directory;
  const auto path = directory / "vad.bin";
  for (const Detection detection : {Detection::kNoise, Detection::kSound}) {
    SileroFile file;
    file.detection = detection;
    file.write(path);
    Reference reference(path);
    std::vector<std::vector<float>> signals = {recording("en-wav16.wav")};
    for (const float amplitude : {1.0f, 0.01f, 1e-5f, 0.0f}) {
      signals.push_back(random_models::noise(20 * kFrame, seed()));
      for (float& sample : signals.back()) sample *= amplitude;
    }
    for (const std::vector<float>& samples : signals) {
      const auto found = of_network(path, samples);
      CHECK(largest_difference(found, reference.probabilities(samples)) < 1e-5f);
      CHECK(largest_difference(found, of_whisper_cpp(path, samples)) < 1e-2f);
      // Otherwise the weights of noise would show little.
      const auto [least, most] = std::minmax_element(found.begin(), found.end());
      if (detection == Detection::kNoise && samples[0] != 0) CHECK(*most - *least > 1e-3f);
    }
  }
}
