#pragma once

#include <cstddef>
#include <vector>

#include "transformer/decoder.h"

namespace verbatim::transformer {

// Random tokens from the vocabulary of 70 of random decoders.
inline std::vector<TokenId> sample_text(std::size_t length, std::size_t seed) {
  std::vector<TokenId> text(length);
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<TokenId>((seed * 31 + i * 17 + i * i) % 70);
  return text;
}

}  // namespace verbatim::transformer
