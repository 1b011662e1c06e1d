#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace verbatim {

// Sound between two pauses, in seconds from any origin.
struct Stretch {
  double begin = 0;
  double end = 0;
};

// Splits consecutive stretches into windows of at most `longest` with the least total cost. Returns the number of
// stretches in the first window, or nothing if the first stretch alone is too long.
//
// A window costs its distance from the length of a sentence. A cut costs more the shorter its pause is; the cut behind
// the last stretch is free. So a window mostly holds one sentence and ends at a long pause, two short sentences are
// joined over a short pause, and a comma does not separate a sentence's last word. The weights are of the order of the
// pauses; they were chosen on speech with pauses of 0.2 to 0.7 s between sentences.
std::optional<std::size_t> plan_first_window(std::span<const Stretch> stretches, double longest);

}  // namespace verbatim
