#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace verbatim::test {

// Damages a model's file in one or more places, each time starting from the original: truncated, lengthened, spliced,
// with flipped bits, or with integers overwritten by typical edge cases. Most changes happen where the file has
// structure.
class FileMutator {
 public:
  // `file`: more than 4 KiB; must outlive this. `structure`: offsets in it, all equally likely.
  FileMutator(const std::string& file, std::vector<std::size_t> structure, std::uint32_t seed);

  std::string next();

 private:
  std::size_t pick(std::size_t below);
  std::size_t structural() { return structure_[pick(structure_.size())]; }
  void flip_bits(std::string& bytes, std::size_t at, std::size_t times);
  void overwrite_integer(std::string& bytes, std::size_t at);
  void splice(std::string& bytes);

  const std::string& file_;
  std::vector<std::size_t> structure_;
  std::mt19937 random_;
};

}  // namespace verbatim::test
