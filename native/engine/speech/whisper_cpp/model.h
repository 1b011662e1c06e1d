#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "accelerator/accelerator.h"
#include "speech/model_info.h"
#include "speech/whisper/mel.h"

struct whisper_context;

namespace verbatim {

// A whisper.cpp ggml model: weights loaded once, shared by its slots. Immutable, so safe to use from many
// threads.
class SpeechModel {
  struct Private {};

 public:
  // `device`: "cpu" or "cuda:N". The file is checked (magic, shapes, sizes) before whisper.cpp sees it.
  // Throws EngineError: kInvalidModel, kIoError, kDeviceUnavailable, kOutOfMemory.
  static std::shared_ptr<const SpeechModel> load(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator = AcceleratorMode::kOff);
  // load() makes models.
  explicit SpeechModel(Private) {}
  ~SpeechModel();

  const SpeechModelInfo& info() const noexcept { return info_; }
  // For slots only.
  whisper_context* context() const noexcept { return context_.get(); }
  // For slots only.
  const whisper::MelExtractor& mel_extractor() const noexcept { return *mel_extractor_; }
  // For slots only; null without an accelerator.
  const std::shared_ptr<accelerator::WeightStore>& packed_weights() const noexcept { return packed_weights_; }

 private:
  struct ContextDeleter {
    void operator()(whisper_context* context) const noexcept;
  };
  SpeechModelInfo info_;
  std::unique_ptr<const whisper::MelExtractor> mel_extractor_;
  std::shared_ptr<accelerator::WeightStore> packed_weights_;
  std::unique_ptr<whisper_context, ContextDeleter> context_;
};

}  // namespace verbatim
