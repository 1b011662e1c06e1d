#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abort.h"
#include "speech/whisper/alignment/pass_alignment.h"
#include "speech/whisper/decoding/loaded_model.h"
#include "speech/whisper/encoder/encoder.h"

namespace verbatim::whisper {

// Aligns known texts, one window at a time, with its own encoder and decoder.
class TextAligner {
 public:
  // model: must outlive this. threads: 1 to 256. Throws EngineError kInvalidArgument, kOutOfMemory.
  TextAligner(const LoadedModel& model, int threads);

  // Aligns `text`, one text token or more, to the samples (16 kHz, 30 seconds at most) in one encoder pass of
  // `positions` positions. The result has the attention of these heads, one or more. `abort` may be null. speech: the
  // samples' stretches of speech, if known. Throws EngineError kAborted, kOutOfMemory, kInternalError.
  PassAlignment align(std::span<const float> samples, int positions, std::vector<TokenId> prompt,
                      std::span<const TokenId> text, std::span<const transformer::AttentionHead> heads,
                      const AbortFlag* abort, std::span<const SpeechSpan> speech);
  std::size_t memory_bytes() const noexcept { return encoder_->memory_bytes() + decoder_->memory_bytes(); }

 private:
  std::unique_ptr<transformer::CrossCache> encode(std::span<const float> samples, int positions,
                                                  const AbortFlag* abort);

  const LoadedModel& model_;
  int threads_;
  const std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<transformer::Decoder> decoder_;
};

}  // namespace verbatim::whisper
