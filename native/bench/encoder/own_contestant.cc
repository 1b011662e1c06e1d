#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "audio/sample_rate.h"
#include "contestant.h"
#include "speech/decode_options.h"
#include "speech/random_models/noise.h"
#include "speech/whisper/encoder/cpu_encoder.h"
#include "speech/whisper/encoder/encoder.h"

namespace verbatim::bench {
namespace {

class KeptRows : public transformer::CrossCache {
 public:
  KeptRows(std::size_t layers, std::size_t positions, std::size_t width)
      : positions_(positions), layer_(positions * width), rows(layers * layer_) {}

  std::size_t positions() const noexcept override { return positions_; }
  void write(std::size_t layer, std::size_t first, std::span<const float> values) override {
    std::copy(values.begin(), values.end(),
              rows.begin() + static_cast<std::ptrdiff_t>(layer * layer_ + first * layer_ / positions_));
  }
  std::size_t memory_bytes() const noexcept override { return rows.size() * sizeof(float); }

 private:
  std::size_t positions_;
  std::size_t layer_;

 public:
  std::vector<float> rows;
};

class OwnContestant : public Contestant {
 public:
  // kernels: null for the model's own encoder.
  OwnContestant(std::shared_ptr<const whisper::Model> model, const transformer::Kernels* kernels)
      : model_(std::move(model)),
        kernels_(kernels),
        mel_(whisper::MelExtractor(model_->mel_filters(), model_->shape().mels)
                 .spectrogram(random_models::noise(30 * kSampleRate, 7))),
        cross_(static_cast<std::size_t>(model_->shape().text_layers), kFullAudioContext,
               2 * static_cast<std::size_t>(model_->shape().audio_state)) {}

  std::string name() const override {
    if (kernels_ != nullptr) return std::string("ours, int8 on ") + kernels_->name;
    const SpeechModelInfo& info = model_->info();
    return "ours, " + (info.accelerator.empty() ? info.weight_type : info.accelerator);
  }

  void encode(int threads) override {
    if (!encoder_ || threads != threads_) {
      if (kernels_ == nullptr) {
        encoder_ = whisper::make_encoder(model_, threads);
      } else {
        encoder_ = std::make_unique<whisper::CpuEncoder>(model_, threads, *kernels_);
      }
      threads_ = threads;
    }
    whisper::EncoderRun run(*model_, mel_, 0, kFullAudioContext, cross_);
    while (!encoder_->advance(run, nullptr)) {
    }
  }

  std::vector<float> output() override {
    encode(2);
    return cross_.rows;
  }

 private:
  std::shared_ptr<const whisper::Model> model_;
  const transformer::Kernels* kernels_;
  whisper::MelSpectrogram mel_;
  KeptRows cross_;
  std::unique_ptr<whisper::Encoder> encoder_;
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<Contestant> own_contestant(const std::filesystem::path& model, AcceleratorMode accelerator) {
  return std::make_unique<OwnContestant>(whisper::Model::load(model, accelerator), nullptr);
}

std::unique_ptr<Contestant> float32_contestant(const std::filesystem::path& model) {
  return std::make_unique<OwnContestant>(whisper::Model::load_kernels(model, transformer::ComputeType::kFloat32),
                                         nullptr);
}

std::unique_ptr<Contestant> int8_contestant(const std::filesystem::path& model, const transformer::Kernels& kernels) {
  return std::make_unique<OwnContestant>(whisper::Model::load_kernels(model, transformer::ComputeType::kInt8),
                                         &kernels);
}

}  // namespace verbatim::bench
