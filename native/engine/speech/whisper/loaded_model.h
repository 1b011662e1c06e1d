#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "speech/whisper/mel.h"
#include "speech/whisper/model.h"
#include "speech/whisper/window_decoding.h"
#include "transformer/cache_types.h"
#include "transformer/cpu/weights.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// The type of a spelling, "int8", "bfloat16", "float32", or "auto": the fastest one that does not cost words.
// Throws EngineError kInvalidArgument.
transformer::ComputeType decoder_type(std::string_view compute);

// A Whisper file with its decoder's weights packed: all that windows share. Immutable, safe to use from many
// threads; what it makes must not outlive it.
class LoadedModel {
 public:
  // alignment_heads: see alignment_heads(). Throws EngineError kInvalidModel, kInvalidArgument, kOutOfMemory.
  LoadedModel(std::shared_ptr<const Model> model, transformer::ComputeType type,
              std::vector<transformer::AttentionHead> alignment_heads);

  const std::shared_ptr<const Model>& model() const noexcept { return model_; }
  const DecodingModel& decoding() const noexcept { return decoding_; }
  const MelExtractor& mel() const noexcept { return mel_; }
  // Makes what encoders write and every decoder reads; never takes a step.
  transformer::Decoder& caches() const noexcept { return *caches_; }
  std::unique_ptr<transformer::Decoder> make_decoder() const;
  // Of the decoder's weights.
  std::size_t bytes() const noexcept { return weights_.bytes(); }

 private:
  const std::shared_ptr<const Model> model_;
  const DecodingModel decoding_;
  const MelExtractor mel_;
  const transformer::CpuWeights weights_;
  const transformer::CacheTypes cache_types_;
  const std::unique_ptr<transformer::Decoder> caches_;
};

}  // namespace verbatim::whisper
