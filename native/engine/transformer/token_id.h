#pragma once

#include <cstdint>

namespace verbatim::translation {

// A row of a model's embeddings.
using TokenId = std::int32_t;

}  // namespace verbatim::translation
