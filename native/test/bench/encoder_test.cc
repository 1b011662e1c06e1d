#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "encoder/distance.h"

namespace verbatim::bench {

TEST_CASE("encoder bench: the distance of two outputs, overall and at the worst position") {
  const std::vector<float> reference{3, 4, 0, 10};
  const Distance none = distance(reference, reference, 2);
  CHECK(none.overall == 0);
  CHECK(none.worst == 0);
  // One position with norm 5 and one with norm 10 are each off by 1.
  const Distance some = distance({3, 5, 1, 10}, reference, 2);
  CHECK(some.worst == doctest::Approx(0.2));
  CHECK(some.overall == doctest::Approx(std::sqrt(2.0 / 125.0)));
  CHECK_THROWS_AS(distance({3, 4}, reference, 2), std::runtime_error);
}

}  // namespace verbatim::bench
