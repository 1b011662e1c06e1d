#pragma once

#include <cstdint>
#include <vector>

namespace verbatim {

// How a live signal is split into utterances. All times are of received audio.
struct LiveOptions {
  // Speech is what is at least so likely, 0 to 1; values below 0.05 or above 0.95 count as these. Without a model the
  // scale is the level: 0 is 3 dB above the noise floor, 1 is 15 dB above it.
  float threshold = 0.5f;
  // Audio before speech that belongs to its utterance, milliseconds, 0 to 5,000.
  int prefix_padding_ms = 300;
  // The silence that ends an utterance, milliseconds, 100 to 60,000.
  int silence_ms = 500;
  // The silence that is reported as a pause of an utterance, milliseconds, up to 60,000; 0: none.
  int pause_ms = 0;
  // False: utterances follow one another without a gap, and only end_utterance() ends one.
  bool detect = true;
  // The longest piece of an utterance, seconds, 1 to 30. A longer utterance is cut ...
  double longest_seconds = 30.0;
  // ... at the quietest place in the last seconds of the piece, above 0 and at most longest_seconds.
  double search_seconds = 5.0;
};

// Throws EngineError kInvalidArgument for values out of range.
void check_live_options(const LiveOptions& options);

// Positions are in samples at 16 kHz from the start of the signal.
struct LiveEvent {
  enum class Kind {
    // An utterance begins at `at`: the prefix padding is included, but nothing of the utterance before.
    kSpeechStarted,
    // The silence in an utterance is long enough for a pause. Once for each silence.
    kPause,
    // The utterance was too long. Its audio up to `at` is complete, and it goes on from there.
    kCut,
    // The utterance has ended at `at`.
    kSpeechStopped,
  };
  Kind kind{};
  std::int64_t at = 0;
  // kPause, kSpeechStopped: the end of the last speech. It is at or before the last cut if nothing was spoken since.
  // Without detection it is `at`.
  std::int64_t speech_end = 0;

  bool operator==(const LiveEvent&) const = default;
};
using LiveEvents = std::vector<LiveEvent>;

}  // namespace verbatim
