#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace verbatim::alignment {

// A value for every token of a text at every encoder position (20 ms), [tokens][positions].
struct TokenMatrix {
  TokenMatrix(std::size_t token_count, std::size_t position_count)
      : tokens(token_count), positions(position_count), values(token_count * position_count) {}

  std::span<float> row(std::size_t token) noexcept { return std::span(values).subspan(token * positions, positions); }
  std::span<const float> row(std::size_t token) const noexcept {
    return std::span(values).subspan(token * positions, positions);
  }

  std::size_t tokens;
  std::size_t positions;
  std::vector<float> values;
};

}  // namespace verbatim::alignment
