#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "abort.h"
#include "speech/recogniser.h"
#include "speech/whisper/encoder.h"
#include "speech/whisper/mel.h"
#include "speech/whisper/pass_alignment.h"
#include "speech/whisper/vocabulary.h"
#include "speech/whisper/window_decoding.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// A window on its way through Whisper. The encoder and the batch that have it in turn work on its parts; what
// they leave behind is here, so that nothing of it stays in them.
class WhisperWindow final : public WindowInFlight {
 public:
  // model: must outlive this. options: checked.
  WhisperWindow(const DecodingModel& model, const Vocabulary& vocabulary,
                std::shared_ptr<const Window> window, const DecodeOptions& options);

  WindowStage stage() const noexcept override { return stage_.load(std::memory_order_acquire); }
  WindowResult result() override;
  void abort() noexcept override { abort_.set(); }
  std::size_t memory_bytes() const noexcept override { return memory_.load(std::memory_order_relaxed); }

  const AbortFlag& abort_flag() const noexcept { return abort_; }
  std::span<const float> samples() const noexcept { return window_->samples; }
  // Encoder positions, 20 ms each.
  std::size_t positions() const noexcept { return positions_; }
  WindowDecoding& decoding() noexcept { return decoding_; }

  // What the batch is to compute next, and what it is to do with what came of it: visit the rows, any thread,
  // then advance(). True while there is more; else go_on(). Throw std::bad_alloc.
  const DecodingRequest& request() const noexcept;
  void visit(std::size_t row, std::span<float> logits) { decoding_.visit(row, logits); }
  void visit_attention(std::size_t row, std::size_t head, std::span<const float> weights) noexcept {
    aligning_->visit(row, head, weights);
  }
  bool advance();

  // Sets the stage by what the rules want next and lets go of what that does not need.
  void go_on();
  // It ends with what is being thrown, or as aborted: holds nothing any more.
  void fail(std::exception_ptr failure);
  void end_aborted();

  // Set by the encoder for each pass: the features until its first unit is done.
  std::optional<MelSpectrogram> mel;
  std::unique_ptr<EncoderRun> run;
  std::unique_ptr<transformer::CrossCache> source;

  // Set by the batch: of the step before, and how many rows of the request under way are done.
  std::vector<std::unique_ptr<transformer::History>> histories;
  std::size_t rows_done = 0;

  // mel_ms, encode_ms and decode_ms; the rest is the rules'.
  Timings timings;

 private:
  void let_go();
  void account();
  void begin_alignment(int seek);
  void end_alignment();

  const DecodingModel& model_;
  const Vocabulary& vocabulary_;
  const std::shared_ptr<const Window> window_;
  const std::size_t positions_;
  const bool align_;
  WindowDecoding decoding_;
  // The pass whose text is being aligned: where it began, in hundredths of a second.
  std::optional<PassAlignment> aligning_;
  int aligning_from_ = 0;
  // Segments that are aligned.
  std::size_t aligned_ = 0;
  AbortFlag abort_;
  std::atomic<WindowStage> stage_;
  std::atomic<std::size_t> memory_{0};
  std::exception_ptr failure_;
};

}  // namespace verbatim::whisper
