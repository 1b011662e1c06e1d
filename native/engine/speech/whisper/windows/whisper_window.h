#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "abort.h"
#include "speech/recogniser.h"
#include "speech/whisper/alignment/pass_alignment.h"
#include "speech/whisper/decoding/window_decoding.h"
#include "speech/whisper/encoder/encoder.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/vocabulary.h"
#include "transformer/decoder.h"

namespace verbatim::whisper {

// A window of Whisper. Encoder and batch work on its members in turn and keep nothing of it themselves.
class WhisperWindow final : public WindowInFlight {
 public:
  // model: must outlive this. options: checked.
  WhisperWindow(const DecodingModel& model, const Vocabulary& vocabulary, std::shared_ptr<const Window> window,
                const DecodeOptions& options);

  WindowStage stage() const noexcept override { return stage_.load(std::memory_order_acquire); }
  WindowResult result() override;
  void abort() noexcept override { abort_.set(); }
  std::size_t memory_bytes() const noexcept override { return memory_.load(std::memory_order_relaxed); }

  const AbortFlag& abort_flag() const noexcept { return abort_; }
  std::span<const float> samples() const noexcept { return window_->samples; }
  // Encoder positions, 20 ms each.
  std::size_t positions() const noexcept { return positions_; }
  WindowDecoding& decoding() noexcept { return decoding_; }

  // What the batch is to compute next. The batch then calls on_logits() and on_attention() for the rows (any thread),
  // then advance(). True while there is more; otherwise the batch calls go_on(). Throw std::bad_alloc.
  const DecodingRequest& request() const noexcept;
  void on_logits(std::size_t row, std::span<float> logits) { decoding_.on_logits(row, logits); }
  void on_attention(std::size_t row, std::size_t head, std::span<const float> weights) noexcept {
    aligning_->on_attention(row, head, weights);
  }
  bool advance();

  // Sets the stage by what decoding needs next, and frees what that does not need.
  void go_on();
  // Ends the window with `failure`, or as aborted, and frees everything.
  void fail(std::exception_ptr failure);
  void end_aborted();

  // Set by the encoder for each pass: the features, until its first unit is done.
  std::optional<MelSpectrogram> mel;
  std::unique_ptr<EncoderRun> run;
  std::unique_ptr<transformer::CrossCache> source;

  // Set by the batch: the histories of the step before, and how many rows of the current request are done.
  std::vector<std::unique_ptr<transformer::History>> histories;
  std::size_t rows_done = 0;

  // mel_ms, encode_ms and decode_ms; the decoding sets the rest.
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
  // Number of aligned segments.
  std::size_t aligned_ = 0;
  AbortFlag abort_;
  std::atomic<WindowStage> stage_;
  std::atomic<std::size_t> memory_{0};
  std::exception_ptr failure_;
};

}  // namespace verbatim::whisper
