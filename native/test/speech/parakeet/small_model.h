#pragma once

#include <filesystem>

#include "testing/random_parakeet_model.h"
#include "testing/temporary_directory.h"

namespace verbatim::test {

// A file of random weights that exists as long as the object.
struct SmallParakeet {
  explicit SmallParakeet(const parakeet::ModelShape& of = small_parakeet_shape(), std::uint32_t seed = 11) : shape(of) {
    write_random_parakeet_model(shape, seed, path());
  }

  std::filesystem::path path() const { return directory.path() / "small.bin"; }

  parakeet::ModelShape shape;
  TemporaryDirectory directory;
};

}  // namespace verbatim::test
