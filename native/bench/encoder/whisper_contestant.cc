#include <ggml.h>
#include <whisper.h>

#include <stdexcept>

#include "contestant.h"
#include "encoder_tap.h"
#include "speech/whisper_cpp/model.h"
#include "speech/whisper_cpp/whisper_state.h"

namespace verbatim::bench {
namespace {

class WhisperContestant : public Contestant {
 public:
  WhisperContestant(const std::filesystem::path& path, AcceleratorMode accelerator, const MelWindow& window)
      : model_(SpeechModel::load(path, "cpu", accelerator)) {
    if (accelerator != AcceleratorMode::kOff && !model_->packed_weights()) {
      throw std::runtime_error("built without an accelerator");
    }
    const accelerator::StateScope scope(model_->packed_weights());
    state_.reset(whisper_init_state(model_->context()));
    if (!state_ || whisper_set_mel_with_state(model_->context(), state_.get(), window.values.data(), window.frames,
                                              window.mels) != 0) {
      throw std::runtime_error("no state for " + name());
    }
  }

  std::string name() const override {
    const SpeechModelInfo& info = model_->info();
    return info.accelerator.empty() ? "whisper.cpp " + info.weight_type : info.accelerator;
  }

  void encode(int threads) override {
    if (whisper_encode_with_state(model_->context(), state_.get(), 0, threads) != 0) {
      throw std::runtime_error(name() + ": the encoder failed");
    }
  }

  std::vector<float> output() override {
    std::vector<float> values;
    const EncoderTap tap(values);
    encode(2);
    if (values.empty()) throw std::runtime_error(name() + ": the encoder's output did not pass");
    return values;
  }

 private:
  std::shared_ptr<const SpeechModel> model_;
  StatePointer state_;
};

}  // namespace

std::unique_ptr<Contestant> whisper_contestant(const std::filesystem::path& model, AcceleratorMode accelerator,
                                               const MelWindow& window) {
  return std::make_unique<WhisperContestant>(model, accelerator, window);
}

}  // namespace verbatim::bench
