#include "transformer/gpu/table.h"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "support/device_under_test.h"
#include "transformer/gpu/device.h"

namespace {

using namespace verbatim;
using namespace verbatim::transformer;
using Shape = GpuTable::Shape;

std::vector<float> values_of(GpuDevice& device, const GpuTable& table) {
  std::vector<float> values(table.bytes() / sizeof(float));
  device.download(table.tensor(), values.data(), table.bytes());
  return values;
}

// 1, 2, 3, ... before; after the table has grown, at the same indices, and zero elsewhere.
void check_growth(const Shape& before, const Shape& after) {
  GpuDevice device(test::open_device_under_test());
  GpuTable table;
  table.resize(device, GGML_TYPE_F32, before, false);
  std::vector<float> values(table.bytes() / sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  device.upload(table.tensor(), values.data(), table.bytes());
  table.resize(device, GGML_TYPE_F32, after, true);
  std::vector<float> expected(after[0] * after[1] * after[2] * after[3]);
  std::size_t next = 0;
  for (std::size_t d = 0; d < before[3]; ++d) {
    for (std::size_t c = 0; c < before[2]; ++c) {
      for (std::size_t b = 0; b < before[1]; ++b) {
        for (std::size_t a = 0; a < before[0]; ++a)
          expected[a + after[0] * (b + after[1] * (c + after[2] * d))] = values[next++];
      }
    }
  }
  CHECK(values_of(device, table) == expected);
}

}  // namespace

TEST_CASE("a table on a device that grows keeps its values at their indices, and the rest is zero") {
  check_growth({64, 256, 1, 1}, {64, 512, 1, 1});
  check_growth({8, 32, 4, 4}, {8, 32, 4, 8});
  check_growth({8, 32, 4, 4}, {8, 64, 4, 4});
  check_growth({32, 8, 4, 4}, {64, 8, 4, 4});
  check_growth({8, 32, 4, 4}, {8, 64, 4, 8});
  check_growth({32, 8, 4, 4}, {64, 8, 4, 8});
}
