#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "support/seed.h"
#include "support/translation_backend.h"

int main(int argc, char** argv) {
  std::printf("translation backend under test: %s\n", verbatim::translation::backend_under_test().c_str());
  std::printf("seed of the property tests: %u (VERBATIM_SEED=... for another)\n", verbatim::test::seed());
  return doctest::Context(argc, argv).run();
}
