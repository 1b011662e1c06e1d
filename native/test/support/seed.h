#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace verbatim::test {

// Where every property test begins: the same in each run, another with VERBATIM_SEED. Throws std::invalid_argument
// where that is not an integer of 32 bits.
inline std::uint32_t seed() {
  static const std::uint32_t kSeed = [] {
    const char* const given = std::getenv("VERBATIM_SEED");
    if (given == nullptr) return std::uint32_t{1};
    const std::string_view text = given;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw std::invalid_argument("VERBATIM_SEED is \"" + std::string(text) + "\"; allowed: 0 to 4294967295");
    }
    return value;
  }();
  return kSeed;
}

}  // namespace verbatim::test
