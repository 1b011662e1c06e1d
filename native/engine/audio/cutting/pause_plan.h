#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace verbatim {

// Sound between two pauses, seconds on any time line.
struct Stretch {
  double begin = 0;
  double end = 0;
};

// Splits a run of stretches, in order, into windows no longer than `longest` at the least total cost, and
// returns how many stretches the first window takes. A window costs what it is shorter or longer than a
// sentence is; a cut costs more the shorter its pause is, and nothing behind the last stretch. So a window
// mostly holds one sentence and ends at a long pause, two short sentences are joined over a short one, and a
// sentence's last word is not left alone for a comma. The weights are of the order of the pauses and were
// chosen on speech with pauses of 0.2 to 0.7 s between sentences. Nothing when already the first stretch is
// too long.
std::optional<std::size_t> plan_first_window(std::span<const Stretch> stretches, double longest);

}  // namespace verbatim
