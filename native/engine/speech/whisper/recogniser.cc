#include "speech/whisper/recogniser.h"

#include <utility>
#include <vector>

#include "audio/sample_rate.h"
#include "error.h"
#include "speech/decode_options.h"
#include "speech/whisper/alignment/align_text.h"
#include "speech/whisper/decoding/loaded_model.h"
#include "speech/whisper/windows/decoder_batch.h"
#include "speech/whisper/windows/whisper_window.h"
#include "speech/whisper/windows/window_encoder.h"
#include "speech/window_bounds.h"
#include "thread_count.h"

namespace verbatim::whisper {
namespace {

class WhisperRecogniser final : public Recogniser {
 public:
  explicit WhisperRecogniser(std::unique_ptr<const LoadedModel> loaded)
      : loaded_(std::move(loaded)), info_(loaded_->model()->info()) {
    info_.memory_bytes += loaded_->bytes();
    info_.weight_cache = loaded_->weight_cache();
    info_.abilities.takes_prefix = true;
  }

  const SpeechModelInfo& info() const noexcept override { return info_; }
  double longest_window_seconds() const noexcept override { return static_cast<double>(kLongestWindow) / kSampleRate; }

  std::shared_ptr<WindowInFlight> open(std::shared_ptr<const Window> window,
                                       const DecodeOptions& options) const override {
    check_decode_options(options, info_);
    if (window->samples.size() > kLongestWindow) {
      throw EngineError(ErrorCode::kInvalidArgument, "the window is longer than 30 seconds");
    }
    return std::make_shared<WhisperWindow>(loaded_->decoding(), loaded_->model()->vocabulary(), std::move(window),
                                           options);
  }

  std::unique_ptr<WindowEncoder> make_encoder(int threads) const override {
    require_thread_count(threads);
    return std::make_unique<WhisperEncoder>(loaded_->model(), threads, loaded_->mel(), loaded_->caches());
  }

  std::unique_ptr<DecoderBatch> make_batch() const override {
    return std::make_unique<WhisperBatch>(loaded_->make_decoder(), loaded_->decoding().alignment_heads);
  }

  DecoderHeads decoder_heads() const override {
    const ModelShape& shape = loaded_->model()->shape();
    return {shape.text_layers, shape.text_heads, loaded_->decoding().alignment_heads};
  }

  TextAlignment align_text(const Window& window, const KnownText& text, std::span<const HeadSet> sets, int threads,
                           const AbortFlag* abort) const override {
    return whisper::align_text(*loaded_, info_, window, text, sets, threads, abort);
  }

 private:
  const std::unique_ptr<const LoadedModel> loaded_;
  SpeechModelInfo info_;
};

}  // namespace

std::shared_ptr<const Recogniser> make_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute,
                                                  std::vector<transformer::AttentionHead> alignment_heads,
                                                  SpeechExecutor executor,
                                                  const transformer::WeightCacheOptions& weight_cache) {
  return std::make_shared<WhisperRecogniser>(
      LoadedModel::load(path, device, accelerator, compute, std::move(alignment_heads), executor, weight_cache));
}

}  // namespace verbatim::whisper
