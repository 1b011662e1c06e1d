#pragma once

#include <memory>

#include "speech/recogniser.h"
#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/model.h"
#include "speech/whisper/windows/whisper_window.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// Features and encoder of Whisper; windows of one model take turns.
class WhisperEncoder final : public WindowEncoder {
 public:
  // mel, caches: must outlive this; `caches` makes what the encoder writes. threads: 1 to 256. Throws EngineError
  // kOutOfMemory.
  WhisperEncoder(std::shared_ptr<const Model> model, int threads, const MelExtractor& mel, transformer::Decoder& caches)
      : model_(std::move(model)), encoder_(make_encoder(model_, threads)), mel_(mel), caches_(caches) {}

  void advance(WindowInFlight& window) override;
  void set_threads(int threads) override { encoder_->set_threads(threads); }
  std::size_t memory_bytes() const noexcept override { return encoder_->memory_bytes(); }

 private:
  void begin_pass(WhisperWindow& window);

  const std::shared_ptr<const Model> model_;
  const std::unique_ptr<Encoder> encoder_;
  const MelExtractor& mel_;
  transformer::Decoder& caches_;
};

}  // namespace verbatim::whisper
