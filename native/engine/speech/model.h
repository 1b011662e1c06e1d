#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"

struct whisper_context;

namespace verbatim {

struct SpeechModelInfo {
  // "tiny", "base", ..., or "custom" for a shape that OpenAI never published.
  std::string type;
  // "f16", "q8_0", "q5_1", ...
  std::string weight_type;
  bool multilingual = false;
  // ISO 639-1 codes (whisper.cpp's spelling).
  std::vector<std::string> languages;
  // "cpu" or "cuda:N"
  std::string device;
  std::string device_name;
  // Bytes of weights, the packed copies that the accelerator will make of the encoder's included.
  std::uint64_t memory_bytes = 0;
  // What computes the encoder's large products: accelerator::name(), or "" for whisper.cpp alone, which
  // is also the answer where the accelerator cannot read the model's weights.
  std::string accelerator;
};

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
  // For slots only; null without an accelerator.
  const std::shared_ptr<accelerator::WeightStore>& packed_weights() const noexcept { return packed_weights_; }

 private:
  struct ContextDeleter {
    void operator()(whisper_context* context) const noexcept;
  };
  SpeechModelInfo info_;
  std::shared_ptr<accelerator::WeightStore> packed_weights_;
  std::unique_ptr<whisper_context, ContextDeleter> context_;
};

}  // namespace verbatim
