#include "speech/whisper/encoder/encoder_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "speech/random_models/random_whisper_model.h"

namespace verbatim::whisper {
namespace {

struct Units {
  std::size_t count = 0;
  // Size of the largest unit, in layers of Whisper base with 1500 positions.
  double largest = 0.0;
};

Units units_of(const std::string& shape, int positions) {
  const auto base = encoder_steps(random_models::published_shape("base"), 1500);
  const auto layer = static_cast<double>(base[1].operations + base[2].operations);
  const auto steps = encoder_steps(random_models::published_shape(shape), positions);
  const auto ends = unit_ends(steps);
  Units units{ends.size(), 0.0};
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    CHECK(end > first);
    std::uint64_t operations = 0;
    for (; first < end; ++first) operations += steps[first].operations;
    units.largest = std::max(units.largest, static_cast<double>(operations) / layer);
  }
  CHECK(first == steps.size());
  return units;
}

}  // namespace

TEST_CASE("a unit of the encoder is a layer of base at most, and half a layer where that is more") {
  struct Expected {
    const char* shape;
    int positions;
    std::size_t units;
    double largest;
  };
  for (const Expected& expected : std::vector<Expected>{{"tiny", 1500, 4, 1.002},
                                                        {"base", 1500, 8, 1.008},
                                                        {"base", 256, 1, 0.898},
                                                        {"small", 1500, 28, 1.008},
                                                        {"large-v3-turbo", 1500, 69, 2.800}}) {
    CAPTURE(std::string(expected.shape));
    CAPTURE(expected.positions);
    const Units units = units_of(expected.shape, expected.positions);
    CHECK(units.count == expected.units);
    CHECK(units.largest == doctest::Approx(expected.largest).epsilon(0.0005));
  }
}

TEST_CASE("the steps of the encoder are every layer of it once, in order") {
  const ModelShape shape = random_models::published_shape("small");
  const auto steps = encoder_steps(shape, 700);
  REQUIRE(steps.size() == 1 + 12 * 2 + 1 + 12);
  std::map<EncoderStep::Kind, int> next;
  for (const EncoderStep& step : steps) CHECK(step.layer == next[step.kind]++);
}

}  // namespace verbatim::whisper
