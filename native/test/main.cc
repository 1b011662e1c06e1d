#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "support/device_under_test.h"
#include "support/seed.h"
#include "support/translation_backend.h"
#include "transformer/kernels/kernels.h"

int main(int argc, char** argv) {
  std::printf("translation backend under test: %s\n", verbatim::translation::backend_under_test().c_str());
  std::printf("device of the graphs under test: %s\n", verbatim::test::device_under_test().c_str());
  std::printf("seed of the property tests: %u (VERBATIM_SEED=... for another)\n", verbatim::test::seed());
  std::printf("kernels:");
  for (const auto* kernels : verbatim::transformer::available_kernels()) std::printf(" %s", kernels->name);
  std::printf("\n");
  return doctest::Context(argc, argv).run();
}
