#include "transformer/cpu/stream_sizes.h"

#include <doctest/doctest.h>

#include <vector>

namespace verbatim::transformer {

TEST_CASE(
    "a stream's outliers are the channels to which weights, biases and tables write more than four times the rest") {
  constexpr std::size_t kChannels = 5;
  // Two inputs for each channel.
  const std::vector<float> weights = {1, 0, 0, 1, 30, 40, 1, 0, 1, 0};
  Linear writer;
  writer.weight.rows = kChannels;
  writer.weight.columns = 2;
  writer.weight.data = std::as_bytes(std::span(weights));
  StreamSizes stream(kChannels);
  CHECK(stream.outliers() == std::vector<float>(kChannels, 1.0f));
  stream.add(writer);
  CHECK(stream.outliers() == std::vector<float>{1, 1, 50, 1, 1});
  // The median of the squares is 1 + 3 * 3; 3 * 2500 and 10 * 16 * 100 are above 16 times that.
  writer.bias = {3, 3, 0, 3, 0};
  stream.add(writer);
  stream.add(std::vector<float>{0, 0, 0, 0, 100, 0, 0, 0, 0, -100});
  const std::vector<float> sizes = stream.outliers();
  CHECK(sizes[0] == 1);
  CHECK(sizes[1] == 1);
  CHECK(sizes[2] == doctest::Approx(21.32).epsilon(0.001));
  CHECK(sizes[3] == 1);
  CHECK(sizes[4] == doctest::Approx(30.15).epsilon(0.001));
}

}  // namespace verbatim::transformer
