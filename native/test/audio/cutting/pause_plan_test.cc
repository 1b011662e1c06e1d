#include "audio/cutting/pause_plan.h"

#include <doctest/doctest.h>

#include <span>
#include <vector>

using verbatim::plan_first_window;
using verbatim::Stretch;

namespace {

// Number of stretches in each window if the plan is made again behind every window.
std::vector<std::size_t> plan_all(std::span<const Stretch> stretches, double longest) {
  std::vector<std::size_t> taken;
  while (!stretches.empty()) {
    const auto first = plan_first_window(stretches, longest);
    REQUIRE(first.has_value());
    REQUIRE(*first >= 1);
    REQUIRE(*first <= stretches.size());
    CHECK(stretches[*first - 1].end - stretches.front().begin <= longest);
    taken.push_back(*first);
    stretches = stretches.subspan(*first);
  }
  return taken;
}

}  // namespace

TEST_CASE("one stretch is one window, unless it is too long") {
  const std::vector<Stretch> one = {{0, 7}};
  CHECK(plan_first_window(one, 8) == 1);
  CHECK_FALSE(plan_first_window(one, 6));
  CHECK_FALSE(plan_first_window({}, 8));
}

TEST_CASE("a long pause separates windows, a short one joins them") {
  CHECK(plan_first_window(std::vector<Stretch>{{0, 2.2}, {2.7, 5}}, 8) == 1);
  CHECK(plan_first_window(std::vector<Stretch>{{0, 1}, {1.2, 2.2}}, 8) == 2);
}

TEST_CASE("the plan takes into account what a cut leaves for the next window") {
  // A cut at the comma would separate one word.
  CHECK(plan_first_window(std::vector<Stretch>{{0, 3.2}, {3.4, 4}}, 8) == 2);
  // The same cut is right if a sentence follows.
  CHECK(plan_first_window(std::vector<Stretch>{{0, 3.2}, {3.6, 6}}, 8) == 1);
}

TEST_CASE("no window is longer than allowed") {
  const std::vector<Stretch> dense = {{0, 1.5}, {1.6, 3}, {3.1, 4.5}, {4.6, 6}, {6.1, 7.5}};
  CHECK(plan_all(dense, 3).size() == 3);
  CHECK(plan_all(dense, 1.5).size() == 5);
  CHECK_FALSE(plan_first_window(dense, 1.4).has_value());
}

TEST_CASE("a stretch that is too long further on does not spoil the plan before it") {
  CHECK(plan_first_window(std::vector<Stretch>{{0, 2.2}, {2.7, 4.9}, {5.4, 20}}, 8) == 1);
}
