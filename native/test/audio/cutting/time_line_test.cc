#include "audio/cutting/time_line.h"

#include <doctest/doctest.h>

#include "audio/cutting/window.h"

using namespace verbatim;

TEST_CASE("times of a window are mapped to its file, behind the audio left out before them") {
  const TimeLine line{.start_sample = 10 * kSampleRate,
                      .skips = {{1 * kSampleRate, 2 * kSampleRate}, {3 * kSampleRate, 4 * kSampleRate}}};
  CHECK(line.of_start(0) == 10);
  CHECK(line.of_end(0.5) == 10.5);
  // At a skip, a start is behind it and an end is before it.
  CHECK(line.of_end(1) == 11);
  CHECK(line.of_start(1) == 13);
  CHECK(line.of_start(2) == 14);
  CHECK(line.of_end(3) == 15);
  CHECK(line.of_start(3) == 19);
  CHECK(line.of_end(5) == 21);
}

TEST_CASE("a window's end in its file is behind the audio left out of it") {
  const Window window{.samples = std::vector<float>(3 * kSampleRate),
                      .start_sample = kSampleRate,
                      .skips = {{kSampleRate, 5 * kSampleRate}}};
  CHECK(window.seconds() == 3);
  CHECK(window.start_seconds() == 1);
  CHECK(window.end_seconds() == 9);
}
