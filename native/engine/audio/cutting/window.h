#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audio/cutting/time_line.h"
#include "audio/sample_rate.h"

namespace verbatim {

// How a model's audio is cut into windows; a property of the model. All times in seconds.
struct WindowPolicy {
  enum class Cut {
    // Fill windows up to max_seconds, and cut at the quietest place of the last search_seconds.
    kQuietest,
    // Cut at every pause of at least min_pause_seconds, and join neighbours up to max_seconds. Longer speech is cut at
    // the quietest place of the last search_seconds.
    kPause,
  };
  // Longest window, (0, 30].
  double max_seconds = 30.0;
  Cut cut = Cut::kQuietest;
  // Shortest pause at which a window is cut, (0, max_seconds); kPause only.
  double min_pause_seconds = 0.15;
  // The quietest place is searched this far back from max_seconds, (0, max_seconds].
  double search_seconds = 5.0;
};

// A part of a window, such as speech between two pauses, in samples from the window's start.
struct SpeechSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Audio with signal, and its place on the file's time line: one stretch, or several between which longer silence was
// left out.
struct Window {
  std::vector<float> samples;
  // First sample's place in the file at 16 kHz.
  std::int64_t start_sample = 0;
  // The stretches of speech that the segmenter detected: in order, apart. Empty: unknown.
  std::vector<SpeechSpan> speech{};
  std::vector<Skip> skips{};

  // Length of the samples.
  double seconds() const { return static_cast<double>(samples.size()) / kSampleRate; }
  TimeLine time_line() const { return {.start_sample = start_sample, .skips = skips}; }
  // Place in the file.
  double start_seconds() const { return static_cast<double>(start_sample) / kSampleRate; }
  double end_seconds() const { return time_line().of_end(seconds()); }
};

}  // namespace verbatim
