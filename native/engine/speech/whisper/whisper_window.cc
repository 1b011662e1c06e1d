#include "speech/whisper/whisper_window.h"

#include <utility>

#include "error.h"
#include "speech/decode_options.h"

namespace verbatim::whisper {
namespace {

std::size_t encoder_positions(std::size_t samples, const DecodeOptions& options) {
  const int context = audio_context(samples, options);
  return static_cast<std::size_t>(context == 0 ? kFullAudioContext : context);
}

WindowStage stage_of(WindowDecoding::Phase phase) {
  switch (phase) {
    case WindowDecoding::Phase::kEncode:
      return WindowStage::kEncode;
    case WindowDecoding::Phase::kDecode:
      return WindowStage::kDecode;
    case WindowDecoding::Phase::kDone:
      break;
  }
  return WindowStage::kDone;
}

}  // namespace

WhisperWindow::WhisperWindow(const DecodingModel& model, const Vocabulary& vocabulary,
                             std::shared_ptr<const Window> window, const DecodeOptions& options)
    : vocabulary_(vocabulary),
      window_(std::move(window)),
      positions_(encoder_positions(window_->samples.size(), options)),
      decoding_(model, options, vocabulary.tokenize(options.initial_prompt), window_->samples.size()),
      stage_(stage_of(decoding_.phase())) {}

WindowResult WhisperWindow::result() {
  if (failure_) std::rethrow_exception(failure_);
  if (abort_.is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  if (stage() != WindowStage::kDone) {
    throw EngineError(ErrorCode::kInternalError, "the window is not done yet");
  }
  WindowResult result = decoding_.result([this](TokenId id) { return vocabulary_.text(id); });
  result.timings += timings;
  return result;
}

void WhisperWindow::go_on() {
  const WindowStage next = stage_of(decoding_.phase());
  if (next != WindowStage::kEncode) run.reset();
  if (next != WindowStage::kDecode) {
    histories.clear();
    rows_done = 0;
  }
  if (next == WindowStage::kDone) let_go();
  account();
  stage_.store(next, std::memory_order_release);
}

void WhisperWindow::fail(std::exception_ptr failure) {
  failure_ = std::move(failure);
  let_go();
  account();
  stage_.store(WindowStage::kDone, std::memory_order_release);
}

void WhisperWindow::end_aborted() {
  fail(std::make_exception_ptr(EngineError(ErrorCode::kAborted, "aborted by the caller")));
}

void WhisperWindow::let_go() {
  run.reset();
  mel.reset();
  source.reset();
  histories.clear();
}

void WhisperWindow::account() {
  std::size_t bytes = 0;
  if (mel) bytes += mel->memory_bytes();
  if (run) bytes += run->memory_bytes();
  if (source) bytes += source->memory_bytes();
  for (const auto& history : histories) bytes += history->memory_bytes();
  memory_.store(bytes, std::memory_order_relaxed);
}

}  // namespace verbatim::whisper
