#include "checksum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace verbatim {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

std::uint64_t checksum_of(std::string_view text) { return checksum(std::as_bytes(std::span(text))); }

}  // namespace

// The values are those of xxhash 3.
TEST_CASE("checksums are XXH64") {
  CHECK(checksum_of("") == 0xef46db3751d8e999);
  CHECK(checksum_of("a") == 0xd24ec4f1a98c6e5b);
  CHECK(checksum_of("abc") == 0x44bc2cf5ad770999);
  CHECK(checksum_of("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
  const std::vector<std::byte> bytes = pattern(1000);
  const std::vector<std::pair<std::size_t, std::uint64_t>> of_length = {
      {31, 0xa2aa5f33cc4a6119}, {32, 0x23c3c17ef790fd97}, {33, 0x50a7cfc7ba588784},
      {39, 0x880bbeea606e4b37}, {40, 0xb620306b253d76b6}, {44, 0xa4b19436ab40edb0},
      {63, 0x5e3e54b431c7493c}, {64, 0x0eb64b3ef6eeb01f}, {1000, 0x5f235fa033f1a3fb},
  };
  for (const auto& [size, expected] : of_length) {
    CAPTURE(size);
    CHECK(checksum(std::span(bytes).first(size)) == expected);
  }
}

TEST_CASE("a checksum does not depend on the pieces that the bytes come in") {
  const std::vector<std::byte> bytes = pattern(300);
  for (std::size_t piece = 1; piece <= 70; ++piece) {
    Checksum sum;
    for (std::size_t first = 0; first < bytes.size(); first += piece) {
      sum.add(std::span(bytes).subspan(first, std::min(piece, bytes.size() - first)));
    }
    CHECK(sum.value() == checksum(bytes));
  }
}

}  // namespace verbatim
