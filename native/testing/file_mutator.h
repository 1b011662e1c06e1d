#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace verbatim::test {

// Spoils a model's file in one place or some, again and again and each time from the file that it was: cut
// off, lengthened, spliced, bits flipped, integers overwritten by such as a reader may stumble over. Most of
// that happens where the file has structure.
class FileMutator {
 public:
  // `file`, of more than 4 KiB, outlives this. `structure`: offsets in it, one of which is as likely as
  // another.
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
