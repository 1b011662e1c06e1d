#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/load_recogniser.h"
#include "speech/whisper/decoding/decoder_maker.h"
#include "speech/whisper/decoding/window_decoding.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/model.h"
#include "transformer/compute_type.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// A Whisper file with its decoder's weights packed: everything that windows share. Immutable, safe to use from many
// threads. Objects that it makes must not outlive it.
class LoadedModel {
 public:
  // alignment_heads: see alignment_heads(). Throws EngineError kInvalidModel, kInvalidArgument, kOutOfMemory.
  LoadedModel(std::shared_ptr<const Model> model, transformer::ComputeType type,
              std::vector<transformer::AttentionHead> alignment_heads, transformer::WeightCache& cache);
  // Arguments and errors as in load_recogniser().
  static std::unique_ptr<const LoadedModel> load(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator, std::string_view compute,
                                                 std::vector<transformer::AttentionHead> alignment_heads,
                                                 SpeechExecutor executor,
                                                 const transformer::WeightCacheOptions& weight_cache);

  const std::shared_ptr<const Model>& model() const noexcept { return model_; }
  const DecodingModel& decoding() const noexcept { return decoding_; }
  const MelExtractor& mel() const noexcept { return mel_; }
  // A decoder that only makes caches: encoders write them and every decoder reads them. It never takes a step.
  transformer::Decoder& caches() const noexcept { return decoders_->caches(); }
  std::unique_ptr<transformer::Decoder> make_decoder() const { return decoders_->make(); }
  // Of the encoder's and the decoder's weights; nothing without a cache.
  const std::optional<transformer::WeightCacheReport>& weight_cache() const noexcept { return weight_cache_; }
  // Bytes of the decoder's weights.
  std::size_t bytes() const noexcept { return decoders_->bytes(); }

 private:
  const std::shared_ptr<const Model> model_;
  const DecodingModel decoding_;
  const MelExtractor mel_;
  const std::unique_ptr<const DecoderMaker> decoders_;
  const std::optional<transformer::WeightCacheReport> weight_cache_;
};

}  // namespace verbatim::whisper
