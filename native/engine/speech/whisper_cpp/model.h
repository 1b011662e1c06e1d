#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/load_recogniser.h"
#include "speech/slot_model.h"
#include "speech/whisper/decoding/loaded_model.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/vocabulary.h"
#include "transformer/decoder.h"

struct whisper_context;

namespace verbatim {

// Whisper on whisper.cpp.
class SpeechModel final : public SlotModel, public std::enable_shared_from_this<SpeechModel> {
  struct Private {};

 public:
  // Loads a model. `device`: "cpu" or "cuda:N". The file is checked (magic, shapes, sizes) before whisper.cpp reads it.
  // alignment_heads, executor (of the word model): as in load_recogniser(). Throws EngineError: kInvalidModel,
  // kIoError, kDeviceUnavailable, kOutOfMemory, kInvalidArgument.
  static std::shared_ptr<const SpeechModel> load(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator = AcceleratorMode::kOff,
                                                 std::vector<transformer::AttentionHead> alignment_heads = {},
                                                 SpeechExecutor word_executor = SpeechExecutor::kByDevice);
  // Called by load() only.
  explicit SpeechModel(Private) {}
  ~SpeechModel() override;

  const SpeechModelInfo& info() const noexcept override { return info_; }
  double longest_window_seconds() const noexcept override;
  std::unique_ptr<WindowSlot> make_slot(int threads) const override;
  // The model that words are aligned by: the same file on this engine's encoder and decoder, on the same device. Loaded
  // on first use and kept. For slots only; any thread. Throws as load() does; a later call tries again.
  const whisper::LoadedModel& word_model() const;
  // Includes the word model once it is loaded.
  std::size_t memory_bytes() const noexcept override;
  // For slots only.
  whisper_context* context() const noexcept { return context_.get(); }
  // For slots only.
  const whisper::MelExtractor& mel_extractor() const noexcept { return *mel_extractor_; }
  // For slots only. whisper.cpp's own tokenizer takes more than a second for a word of 4000 bytes.
  const whisper::Vocabulary& vocabulary() const noexcept { return *vocabulary_; }
  // For slots only; null without an accelerator.
  const std::shared_ptr<accelerator::WeightStore>& packed_weights() const noexcept { return packed_weights_; }

 private:
  struct ContextDeleter {
    void operator()(whisper_context* context) const noexcept;
  };
  std::filesystem::path path_;
  AcceleratorMode accelerator_ = AcceleratorMode::kOff;
  std::vector<transformer::AttentionHead> alignment_heads_;
  SpeechExecutor word_executor_ = SpeechExecutor::kByDevice;
  mutable std::mutex word_mutex_;
  mutable std::unique_ptr<const whisper::LoadedModel> word_model_;
  mutable std::atomic<std::size_t> word_bytes_{0};
  SpeechModelInfo info_;
  std::unique_ptr<const whisper::MelExtractor> mel_extractor_;
  std::unique_ptr<const whisper::Vocabulary> vocabulary_;
  std::shared_ptr<accelerator::WeightStore> packed_weights_;
  std::unique_ptr<whisper_context, ContextDeleter> context_;
};

}  // namespace verbatim
