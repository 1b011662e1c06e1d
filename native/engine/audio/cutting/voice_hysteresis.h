#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "audio/cutting/window.h"

namespace verbatim {

// When a row of probabilities becomes speech, and when it ends. Times in seconds. The shape is that of
// Silero's own rules.
struct VoiceRules {
  // Speech begins with a frame that is at least so likely, ...
  float onset;
  // ... and ends before the first of frames less likely than this ...
  float offset;
  // ... that last for so long without one as likely as an onset.
  double min_silence;
  // What is shorter than this is no speech.
  double min_speech;
  // Speech is taken to begin so much earlier, and to end so much later.
  double padding;
};

// Makes regions of speech out of the probabilities of frames, as they come. What it says does not depend on
// how they are cut into calls.
class VoiceHysteresis {
 public:
  VoiceHysteresis(const VoiceRules& rules, int frame_samples);

  void push(std::span<const float> probabilities);
  // Nothing follows; the signal is so many samples long.
  void finish(std::int64_t samples);

  // Up to this sample it is known what is speech, whatever follows.
  std::int64_t decided() const noexcept { return decided_; }
  // Whether there is speech in [begin, end), of samples below decided(). To be asked in order.
  bool has_speech(std::int64_t begin, std::int64_t end);

 private:
  struct Region {
    std::int64_t begin;
    std::int64_t end;
  };

  void step(float probability);
  void keep(std::int64_t begin, std::int64_t end);

  const VoiceRules rules_;
  const std::int64_t frame_;
  const std::int64_t min_silence_;
  const std::int64_t min_speech_;
  const std::int64_t padding_;
  std::int64_t position_ = 0;
  std::int64_t decided_ = 0;
  // Of the speech that goes on, and of the unlikely frames at its end.
  std::optional<std::int64_t> speech_since_;
  std::optional<std::int64_t> quiet_since_;
  // Padded, in order, apart; the last one may still grow.
  std::deque<Region> regions_;
};

}  // namespace verbatim
