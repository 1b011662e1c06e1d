#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "support/translation_backend.h"

int main(int argc, char** argv) {
  std::printf("translation backend under test: %s\n", verbatim::translation::backend_under_test().c_str());
  return doctest::Context(argc, argv).run();
}
