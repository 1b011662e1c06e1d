// Encoder of one 30-second window, whisper.cpp alone (A) and with the accelerator (B), in pairs A B A B on
// one thread each and on two: medians, the median of the pairs' ratios, and how far the logits behind the
// encoder move. Prints Markdown; the random model is written to a temporary directory.
//
//   encoder_bench [--shape base] [--threads 1,2] [--pairs 7] [--model FILE]
#include <ggml.h>
#include <whisper.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "accel/accelerator.h"
#include "random_model.h"
#include "speech/model.h"

namespace {

using namespace verbatim;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string shape = "base";
  std::string model;
  std::vector<int> threads{1, 2};
  int pairs = 7;
};

std::vector<int> numbers(const std::string& list) {
  std::vector<int> values;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) values.push_back(std::stoi(item));
  return values;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--shape")
      arguments.shape = words[i + 1];
    else if (words[i] == "--model")
      arguments.model = words[i + 1];
    else if (words[i] == "--threads")
      arguments.threads = numbers(words[i + 1]);
    else if (words[i] == "--pairs")
      arguments.pairs = std::stoi(words[i + 1]);
    else
      throw std::invalid_argument("unknown option " + words[i]);
  }
  if (words.size() % 2 != 0) throw std::invalid_argument(words.back() + " needs a value");
  if (arguments.pairs < 1) throw std::invalid_argument("--pairs is at least 1");
  return arguments;
}

struct StateDeleter {
  void operator()(whisper_state* state) const noexcept { whisper_free_state(state); }
};

// One state with a window of noise in it.
class Encoder {
 public:
  Encoder(const std::string& path, Acceleration acceleration)
      : model_(SpeechModel::load(path, "cpu", acceleration)) {
    const accel::StateScope scope(model_->packed_weights());
    state_.reset(whisper_init_state(model_->context()));
    if (!state_) throw std::runtime_error("no state");
    const int mels = whisper_model_n_mels(model_->context());
    std::mt19937 engine(7);
    std::vector<float> mel(static_cast<std::size_t>(mels) * kFrames);
    for (float& value : mel) value = static_cast<float>(engine() >> 8) * (2.0f / 16777216.0f) - 1.0f;
    whisper_set_mel_with_state(model_->context(), state_.get(), mel.data(), kFrames, mels);
  }

  double milliseconds(int threads) {
    const auto start = Clock::now();
    if (whisper_encode_with_state(model_->context(), state_.get(), 0, threads) != 0) {
      throw std::runtime_error("the encoder failed");
    }
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  std::vector<float> logits() {
    const whisper_token start = whisper_token_sot(model_->context());
    whisper_decode_with_state(model_->context(), state_.get(), &start, 1, 0, 1);
    const float* row = whisper_get_logits_from_state(state_.get());
    return {row, row + whisper_n_vocab(model_->context())};
  }

  const SpeechModel& model() const { return *model_; }

 private:
  static constexpr int kFrames = 3000;
  std::shared_ptr<const SpeechModel> model_;
  std::unique_ptr<whisper_state, StateDeleter> state_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// ||a - b|| / ||b||
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / norm);
}

void measure(Encoder& plain, Encoder& accelerated, int threads, int pairs) {
  std::vector<double> a, b, ratios;
  plain.milliseconds(threads);
  accelerated.milliseconds(threads);
  for (int i = 0; i < pairs; ++i) {
    a.push_back(plain.milliseconds(threads));
    b.push_back(accelerated.milliseconds(threads));
    ratios.push_back(a.back() / b.back());
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("| %d | %.0f | %.0f | %.2f | %.2f - %.2f | %d |\n", threads, median(a), median(b),
              median(ratios), *low, *high, pairs);
  std::fflush(stdout);
}

void run(const Arguments& arguments) {
  const std::string path =
      !arguments.model.empty()
          ? arguments.model
          : (std::filesystem::temp_directory_path() / ("random-" + arguments.shape + ".bin")).string();
  if (arguments.model.empty()) bench::write_random_model(bench::published_shape(arguments.shape), 1, path);
  Encoder plain(path, Acceleration::kOff);
  Encoder accelerated(path, Acceleration::kAuto);
  const SpeechModelInfo& info = accelerated.model().info();
  if (info.accelerator.empty()) throw std::runtime_error("built without an accelerator");
  std::printf("%s (%s %s), %s, packed weights %.1f MiB\n\n", path.c_str(), info.type.c_str(),
              info.weight_type.c_str(), info.accelerator.c_str(),
              static_cast<double>(info.memory_bytes - plain.model().info().memory_bytes) / (1 << 20));
  std::printf(
      "| threads | whisper.cpp ms | accelerated ms | ratio | ratios | pairs |\n|--:|--:|--:|--:|--:|--:|\n");
  for (const int threads : arguments.threads) measure(plain, accelerated, threads, arguments.pairs);
  std::printf(
      "\nLogits behind the encoder: relative difference %.2e; packed so far %.1f MiB\n",
      relative_difference(accelerated.logits(), plain.logits()),
      static_cast<double>(accel::packed_bytes(accelerated.model().packed_weights().get())) / (1 << 20));
}

}  // namespace

int main(int count, char** values) {
  try {
    run(parse({values + 1, values + count}));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
