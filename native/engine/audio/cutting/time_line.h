#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audio/sample_rate.h"

namespace verbatim {

// Audio of a file that is left out between two samples of a window.
struct Skip {
  // Number of the window's samples before it.
  std::size_t at = 0;
  // Number of the file's samples that are left out.
  std::int64_t length = 0;
};

// Where the samples of a window are in its file. Times are in seconds; a window's times count from its first sample.
struct TimeLine {
  // First sample's place in the file at 16 kHz.
  std::int64_t start_sample = 0;
  // In order, at different places, none before the first sample or behind the last.
  std::vector<Skip> skips{};

  // The time in the file of something that starts at this time of the window: behind a skip at that place.
  double of_start(double seconds) const { return place(seconds, true); }
  // The same for something that ends at it: before a skip at that place.
  double of_end(double seconds) const { return place(seconds, false); }

 private:
  double place(double seconds, bool behind) const;
};

}  // namespace verbatim
