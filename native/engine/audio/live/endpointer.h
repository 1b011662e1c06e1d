#pragma once

#include <cstdint>
#include <optional>

#include "audio/live/live_options.h"

namespace verbatim {

// Finds utterances in a sequence of probabilities of speech. It looks back only: a decision needs no later audio.
//
// - Speech begins with a chunk at the threshold. It ends before a chunk that is 0.15 below the threshold, if no other
//   at the threshold follows within the silence that ends an utterance. These are Silero's own rules.
// - Less than 60 ms are no speech: they neither begin an utterance nor interrupt its silence.
class Endpointer {
 public:
  // The options must be in range.
  explicit Endpointer(const LiveOptions& options) { configure(options); }

  // In force from the next chunk on. With detection switched off, what runs goes on, or an utterance begins here. With
  // detection switched on, an utterance that has audio goes on and has been silent since here.
  void configure(const LiveOptions& options);

  // The probability of the next samples. Appends to `events`.
  void step(float probability, int samples, LiveEvents& events);
  // The same chunks are to follow again from this position, which is at or behind the end of the last utterance. Only
  // if not active().
  void rewind(std::int64_t position) noexcept { position_ = position; }

  // Ends the utterance here, if there is one.
  void end(LiveEvents& events);
  // Abandons the utterance, without an event. The next one begins at this position or later.
  void clear(std::int64_t position) noexcept;
  // The next utterance, too, begins at this position or later.
  void begin_from(std::int64_t position) noexcept { earliest_ = position > earliest_ ? position : earliest_; }
  // The utterance goes on from `at`, which is in its piece.
  void cut(std::int64_t at, LiveEvents& events);

  // Number of samples so far.
  std::int64_t position() const noexcept { return position_; }
  bool in_utterance() const noexcept { return in_utterance_; }
  // In an utterance, or possibly at the beginning of one.
  bool active() const noexcept { return in_utterance_ || since_.has_value(); }
  // Where the utterance begins, or its part behind the last cut. Only if in_utterance().
  std::int64_t piece_begin() const noexcept { return piece_begin_; }
  // The end of the last utterance, also of one that was abandoned; 0 if there was none.
  std::int64_t last_end() const noexcept { return last_end_; }

 private:
  void look_for_start(std::int64_t begin, bool loud, bool quiet, LiveEvents& events);
  void follow(std::int64_t begin, bool loud, bool quiet);
  void look_for_end(LiveEvents& events);
  bool has_audio() const noexcept { return in_utterance_ && (cut_ || piece_begin_ < position_); }
  std::int64_t begin_at(std::int64_t speech) const noexcept;
  void start_over() noexcept;

  bool detect_ = true;
  float onset_ = 0;
  float offset_ = 0;
  std::int64_t padding_ = 0;
  std::int64_t silence_ = 0;
  // 0: none.
  std::int64_t pause_ = 0;

  std::int64_t position_ = 0;
  std::int64_t last_end_ = 0;
  std::int64_t earliest_ = 0;
  bool in_utterance_ = false;
  std::int64_t piece_begin_ = 0;
  // The utterance has another piece before this one.
  bool cut_ = false;
  // Outside an utterance: where it may begin.
  std::optional<std::int64_t> since_;
  // Start of the silence at the end of the speech, and of the speech in it that may be too short to count.
  std::optional<std::int64_t> quiet_since_;
  std::optional<std::int64_t> resumed_since_;
  // The pause of this silence was reported.
  bool paused_ = false;
};

}  // namespace verbatim
