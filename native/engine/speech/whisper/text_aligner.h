#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abort.h"
#include "speech/whisper/encoder.h"
#include "speech/whisper/loaded_model.h"
#include "speech/whisper/pass_alignment.h"

namespace verbatim::whisper {

// Aligns texts that are known, one window at a time, in an encoder and a decoder of its own.
class TextAligner {
 public:
  // model: must outlive this. threads: 1 to 256. Throws EngineError kInvalidArgument, kOutOfMemory.
  TextAligner(const LoadedModel& model, int threads);

  // Reads `text`, one token of text or more, while it hears the samples, 16 kHz, 30 seconds at most, in one
  // encoder pass of so many positions. What comes back has been visited for these heads, one or more. `abort`
  // may be null. speech: of the samples, as far as it is known. Throws EngineError kAborted, kOutOfMemory,
  // kInternalError.
  PassAlignment align(std::span<const float> samples, int positions, std::vector<TokenId> prompt,
                      std::span<const TokenId> text, std::span<const transformer::AttentionHead> heads,
                      const AbortFlag* abort, std::span<const SpeechSpan> speech);
  std::size_t memory_bytes() const noexcept { return encoder_.memory_bytes() + decoder_->memory_bytes(); }

 private:
  std::unique_ptr<transformer::CrossCache> encode(std::span<const float> samples, int positions,
                                                  const AbortFlag* abort);

  const LoadedModel& model_;
  int threads_;
  Encoder encoder_;
  std::unique_ptr<transformer::Decoder> decoder_;
};

}  // namespace verbatim::whisper
