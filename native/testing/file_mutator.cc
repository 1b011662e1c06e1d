#include "testing/file_mutator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace verbatim::test {

FileMutator::FileMutator(const std::string& file, std::vector<std::size_t> structure, std::uint32_t seed)
    : file_(file), structure_(std::move(structure)), random_(seed) {}

std::string FileMutator::next() {
  std::string copy = file_;
  switch (pick(9)) {
    case 0:
      copy.resize(pick(copy.size()));
      break;
    case 1:
      copy.append(1 + pick(64), static_cast<char>(pick(256)));
      break;
    case 2:
      splice(copy);
      break;
    case 3:
      overwrite_integer(copy, structural());
      break;
    case 4:
      // A whole field of a header.
      overwrite_integer(copy, structural() & ~std::size_t{3});
      break;
    case 5:
      flip_bits(copy, pick(copy.size()), 1 + pick(8));
      break;
    default:
      flip_bits(copy, structural(), 1 + pick(3));
  }
  return copy;
}

std::size_t FileMutator::pick(std::size_t below) { return random_() % below; }

void FileMutator::flip_bits(std::string& bytes, std::size_t at, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    bytes[std::min(at + i, bytes.size() - 1)] ^= static_cast<char>(1U << pick(8));
  }
}

void FileMutator::overwrite_integer(std::string& bytes, std::size_t at) {
  static constexpr std::array<std::uint32_t, 11> kNasty{0,   1,     2,          3,          8,         255,
                                                        448, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
  const std::uint32_t value = kNasty[pick(kNasty.size())];
  bytes.replace(std::min(at, bytes.size() - 4), 4, reinterpret_cast<const char*>(&value), 4);
}

void FileMutator::splice(std::string& bytes) {
  const std::size_t size = 1 + pick(4096);
  const std::size_t from = pick(bytes.size() - size);
  const std::size_t to = pick(bytes.size() - size);
  bytes.replace(to, size, file_, from, size);
}

}  // namespace verbatim::test
