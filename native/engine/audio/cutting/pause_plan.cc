#include "audio/cutting/pause_plan.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace verbatim {
namespace {

// A cut at a pause of this length or longer costs nothing, seconds.
constexpr double kFreeCut = 0.4;
// Preferred length of a window: one sentence, seconds. Then the cost of each second less and of each second more, in
// seconds of pause.
constexpr double kSentence = 2.2;
constexpr double kTooShort = 0.25;
constexpr double kTooLong = 0.12;
constexpr double kImpossible = std::numeric_limits<double>::infinity();

double window_cost(double length) {
  return length < kSentence ? kTooShort * (kSentence - length) : kTooLong * (length - kSentence);
}

double cut_cost(double pause) { return std::max(0.0, kFreeCut - pause); }

}  // namespace

std::optional<std::size_t> plan_first_window(std::span<const Stretch> stretches, double longest) {
  const std::size_t count = stretches.size();
  // Least cost of the first n stretches, and the number of stretches in the first window of that plan.
  std::vector<double> cost(count + 1, kImpossible);
  std::vector<std::size_t> taken(count + 1, 0);
  cost[0] = 0;
  std::size_t reached = 0;
  for (std::size_t from = 0; from < count; ++from) {
    if (cost[from] == kImpossible) continue;
    for (std::size_t to = from + 1; to <= count; ++to) {
      const double length = stretches[to - 1].end - stretches[from].begin;
      if (length > longest) break;
      const double cut = to < count ? cut_cost(stretches[to].begin - stretches[to - 1].end) : 0;
      const double total = cost[from] + window_cost(length) + cut;
      if (total >= cost[to]) continue;
      cost[to] = total;
      taken[to] = from == 0 ? to : taken[from];
      reached = std::max(reached, to);
    }
  }
  if (reached == 0) return std::nullopt;
  return taken[reached];
}

}  // namespace verbatim
