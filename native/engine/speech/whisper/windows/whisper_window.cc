#include "speech/whisper/windows/whisper_window.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "audio/sample_rate.h"
#include "error.h"
#include "speech/alignment/word_times.h"
#include "speech/decode_options.h"
#include "speech/whisper/decoding/window_prefix.h"

namespace verbatim::whisper {
namespace {

std::size_t encoder_positions(std::size_t samples, const DecodeOptions& options) {
  const int context = audio_context(samples, options);
  return static_cast<std::size_t>(context == 0 ? kFullAudioContext : context);
}

// Some of a text's 220 tokens are left to what follows.
constexpr std::size_t kMostPrefixTokens = 200;

std::vector<TokenId> checked_prefix(const DecodeOptions& options, const Vocabulary& vocabulary) {
  std::vector<TokenId> tokens = prefix_tokens(options.prefix, vocabulary);
  if (tokens.size() <= kMostPrefixTokens) return tokens;
  throw EngineError(ErrorCode::kInvalidArgument, "prefix has " + std::to_string(tokens.size()) +
                                                     " tokens, allowed: at most " + std::to_string(kMostPrefixTokens));
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
    : model_(model),
      vocabulary_(vocabulary),
      window_(std::move(window)),
      positions_(encoder_positions(window_->samples.size(), options)),
      align_(options.align),
      decoding_(model, options, vocabulary.tokenize(options.initial_prompt), window_->samples.size(),
                checked_prefix(options, vocabulary)),
      stage_(stage_of(decoding_.phase())) {}

WindowResult WhisperWindow::result() {
  if (failure_) std::rethrow_exception(failure_);
  if (abort_.is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  if (stage() != WindowStage::kDone) {
    throw EngineError(ErrorCode::kInternalError, "the window is not done yet");
  }
  WindowResult result = decoding_.result([this](TokenId id) { return vocabulary_.text(id); });
  result.timings += timings;
  if (align_) alignment::place_words(result.segments, window_->speech, window_->seconds());
  return result;
}

const DecodingRequest& WhisperWindow::request() const noexcept {
  return aligning_ ? aligning_->request() : decoding_.request();
}

bool WhisperWindow::advance() {
  if (aligning_) {
    end_alignment();
    return false;
  }
  const int seek = decoding_.seek();
  decoding_.advance();
  if (decoding_.phase() == WindowDecoding::Phase::kDecode) return true;
  if (align_) begin_alignment(seek);
  return aligning_.has_value();
}

// Aligns the segments that are not aligned yet: those of the pass that has just ended.
void WhisperWindow::begin_alignment(int seek) {
  std::vector<TokenId> text;
  std::vector<std::string_view> pieces;
  for (const DecodedSegment& segment : std::span(decoding_.segments()).subspan(aligned_)) {
    for (const DecodedToken& token : segment.tokens) {
      if (!model_.tokens.is_text(token.id)) continue;
      text.push_back(token.id);
      pieces.push_back(vocabulary_.text(token.id));
    }
  }
  if (text.empty()) return;
  aligning_from_ = seek;
  aligning_.emplace(decoding_.plain_prompt(), text, pieces, model_.alignment_heads.size(),
                    positions_of_speech(window_->speech, static_cast<std::size_t>(seek) * kSampleRate / 100,
                                        decoding_.seek_end() - seek, positions_),
                    static_cast<std::size_t>(model_.text_positions));
  account();
}

void WhisperWindow::end_alignment() {
  const std::vector<std::size_t> starts = aligning_->starts();
  aligning_.reset();
  const auto seconds = [this](std::size_t position) {
    return aligning_from_ / 100.0 + static_cast<double>(position) * kPositionSeconds;
  };
  std::size_t at = 0;
  for (; aligned_ < decoding_.segments().size(); ++aligned_) {
    std::vector<double> own{seconds(starts[at])};
    for (const DecodedToken& token : decoding_.segments()[aligned_].tokens) {
      if (model_.tokens.is_text(token.id)) own.push_back(seconds(starts[++at]));
    }
    decoding_.set_token_starts(aligned_, std::move(own));
  }
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
  aligning_.reset();
}

void WhisperWindow::account() {
  std::size_t bytes = 0;
  if (mel) bytes += mel->memory_bytes();
  if (run) bytes += run->memory_bytes();
  if (source) bytes += source->memory_bytes();
  if (aligning_) bytes += aligning_->memory_bytes();
  for (const auto& history : histories) bytes += history->memory_bytes();
  memory_.store(bytes, std::memory_order_relaxed);
}

}  // namespace verbatim::whisper
