#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "audio/cutting/window.h"

namespace verbatim {

// Where speech begins and ends in a sequence of probabilities. Times in seconds. The rules have the form of Silero's
// own.
struct VoiceRules {
  // Speech begins with a frame of at least this probability.
  float onset;
  // It ends before the first frame of a silence: frames below this probability ...
  float offset;
  // ... for at least this long, without a frame as likely as an onset.
  double min_silence;
  // Anything shorter than this is no speech.
  double min_speech;
  // Each region is extended by this much on either side.
  double padding;
};

// Makes regions of speech from the probabilities of frames, as they arrive. The result does not depend on how they are
// split into calls.
class VoiceHysteresis {
 public:
  VoiceHysteresis(const VoiceRules& rules, int frame_samples);

  void push(std::span<const float> probabilities);
  // Ends the signal, which has so many samples.
  void finish(std::int64_t samples);

  // Up to this sample the regions are final.
  std::int64_t decided() const noexcept { return decided_; }
  // Whether there is speech in [begin, end), which must be below decided(). Calls must be in ascending order.
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
  // Start of the current speech, and of the unlikely frames at its end.
  std::optional<std::int64_t> speech_since_;
  std::optional<std::int64_t> quiet_since_;
  // Padded, in order, apart; the last one may still grow.
  std::deque<Region> regions_;
};

}  // namespace verbatim
