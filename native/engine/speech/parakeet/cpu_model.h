#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "speech/parakeet/encoder_weights.h"
#include "speech/parakeet/mel.h"
#include "speech/parakeet/model_reader.h"
#include "speech/parakeet/transducer.h"
#include "speech/slot_model.h"
#include "transformer/cpu/linear_weight.h"

namespace verbatim::parakeet {

// Bytes of the packed weights of a model of this shape, without the tables that are computed from them.
std::uint64_t packed_weight_bytes(const ModelShape& shape, const transformer::ProductFormat& format);

// Parakeet TDT on this engine's kernels, the encoder's products on them or on the accelerator, without whisper.cpp. Its
// weights are packed once; the file is only mapped.
class CpuModel final : public SlotModel, public std::enable_shared_from_this<CpuModel> {
  struct Private {};

 public:
  // Loads onto the CPU. Throws EngineError kIoError, kInvalidModel, kOutOfMemory, kInternalError.
  static std::shared_ptr<const CpuModel> load(const std::filesystem::path& path,
                                              const transformer::ProductFormat& format);
  // Called by load() only.
  CpuModel(Private, const std::filesystem::path& path, const transformer::ProductFormat& format);

  const SpeechModelInfo& info() const noexcept override { return info_; }
  double longest_window_seconds() const noexcept override;
  std::size_t memory_bytes() const noexcept override { return info_.memory_bytes; }
  std::unique_ptr<WindowSlot> make_slot(int threads) const override;

  // For slots only.
  const ModelFileInfo& file() const noexcept { return reader_.info(); }
  const MelExtractor& mel() const noexcept { return mel_; }
  const EncoderWeights& encoder() const noexcept { return encoder_; }
  const TransducerWeights& transducer() const noexcept { return transducer_; }

 private:
  const ModelReader reader_;
  const MelExtractor mel_;
  const EncoderWeights encoder_;
  const TransducerWeights transducer_;
  SpeechModelInfo info_;
};

}  // namespace verbatim::parakeet
