#include "audio/live/endpointer.h"

#include <algorithm>

#include "audio/sample_rate.h"

namespace verbatim {
namespace {

constexpr std::int64_t to_samples(std::int64_t milliseconds) { return milliseconds * kSampleRate / 1000; }

constexpr std::int64_t kLeastSpeech = to_samples(60);
// Silence that ends what was too short for speech.
constexpr std::int64_t kShortSilence = to_samples(96);
constexpr float kLowestOnset = 0.05f;
constexpr float kHighestOnset = 0.95f;
constexpr float kOffsetBelow = 0.15f;
constexpr float kLowestOffset = 0.03f;

}  // namespace

void Endpointer::configure(const LiveOptions& options) {
  onset_ = std::clamp(options.threshold, kLowestOnset, kHighestOnset);
  offset_ = std::max(kLowestOffset, onset_ - kOffsetBelow);
  padding_ = to_samples(options.prefix_padding_ms);
  silence_ = to_samples(options.silence_ms);
  pause_ = to_samples(options.pause_ms);
  if (options.detect == detect_) return;
  detect_ = options.detect;
  if (detect_) {
    in_utterance_ = has_audio();
    if (in_utterance_) quiet_since_ = position_;
    return;
  }
  // The beginning of speech that is not long enough yet is no silence.
  if (!in_utterance_) piece_begin_ = since_ ? begin_at(*since_) : position_;
  in_utterance_ = true;
  start_over();
}

// Where an utterance begins whose speech begins here.
std::int64_t Endpointer::begin_at(std::int64_t speech) const noexcept { return std::max(earliest_, speech - padding_); }

void Endpointer::step(float probability, int samples, LiveEvents& events) {
  const std::int64_t begin = position_;
  position_ += samples;
  if (!detect_) return;
  const bool loud = probability >= onset_;
  const bool quiet = probability < offset_;
  if (in_utterance_) {
    follow(begin, loud, quiet);
    look_for_end(events);
  } else {
    look_for_start(begin, loud, quiet, events);
  }
}

void Endpointer::look_for_start(std::int64_t begin, bool loud, bool quiet, LiveEvents& events) {
  if (loud) {
    if (!since_) since_ = begin;
    quiet_since_.reset();
  } else if (since_ && quiet && !quiet_since_) {
    quiet_since_ = begin;
  }
  if (!since_) return;
  if (quiet_since_) {
    if (position_ - *quiet_since_ < kShortSilence) return;
    since_.reset();
    quiet_since_.reset();
  } else if (position_ - *since_ >= kLeastSpeech) {
    in_utterance_ = true;
    piece_begin_ = begin_at(*since_);
    since_.reset();
    events.push_back({.kind = LiveEvent::Kind::kSpeechStarted, .at = piece_begin_});
  }
}

void Endpointer::follow(std::int64_t begin, bool loud, bool quiet) {
  if (!quiet_since_) {
    if (quiet) quiet_since_ = begin;
  } else if (quiet) {
    resumed_since_.reset();
  } else if (loud || resumed_since_) {
    if (!resumed_since_) resumed_since_ = begin;
    if (position_ - *resumed_since_ < kLeastSpeech) return;
    quiet_since_.reset();
    resumed_since_.reset();
    paused_ = false;
  }
}

void Endpointer::look_for_end(LiveEvents& events) {
  // What may be speech again decides first.
  if (!quiet_since_ || resumed_since_) return;
  const std::int64_t silence = position_ - *quiet_since_;
  if (silence >= silence_) {
    end(events);
  } else if (pause_ > 0 && silence >= pause_ && !paused_) {
    paused_ = true;
    events.push_back({.kind = LiveEvent::Kind::kPause, .at = position_, .speech_end = *quiet_since_});
  }
}

void Endpointer::end(LiveEvents& events) {
  if (detect_ ? !in_utterance_ : !has_audio()) return;
  const std::int64_t speech_end = quiet_since_.value_or(position_);
  events.push_back({.kind = LiveEvent::Kind::kSpeechStopped, .at = position_, .speech_end = speech_end});
  clear(position_);
}

void Endpointer::clear(std::int64_t position) noexcept {
  position_ = last_end_ = earliest_ = piece_begin_ = position;
  in_utterance_ = !detect_;
  cut_ = false;
  start_over();
}

void Endpointer::start_over() noexcept {
  since_.reset();
  quiet_since_.reset();
  resumed_since_.reset();
  paused_ = false;
}

void Endpointer::cut(std::int64_t at, LiveEvents& events) {
  piece_begin_ = at;
  cut_ = true;
  events.push_back({.kind = LiveEvent::Kind::kCut, .at = at});
}

}  // namespace verbatim
