#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audio/sample_rate.h"

namespace verbatim {

// Audio of a file that was left out between two samples of a window.
struct Skip {
  // Samples of the window before it.
  std::size_t at = 0;
  // Samples of the file.
  std::int64_t length = 0;
};

// Where the samples of a window lie in its file. Times are in seconds; those of a window count from its first
// sample.
struct TimeLine {
  // First sample's place in the file at 16 kHz.
  std::int64_t start_sample = 0;
  // In order, at different places, none before the first sample or behind the last.
  std::vector<Skip> skips{};

  // The place in the file of what starts at this time of the window: behind a skip that is there.
  double of_start(double seconds) const { return place(seconds, true); }
  // ... of what ends at it: before a skip that is there.
  double of_end(double seconds) const { return place(seconds, false); }

 private:
  double place(double seconds, bool behind) const;
};

}  // namespace verbatim
